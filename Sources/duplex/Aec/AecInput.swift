import Foundation
import VoiceDevices

/// One recording as it was read: mixed to one channel, and at the rate at which everything is processed.
struct AecInput {
    let path: String
    let samples: [Float]
    /// What of it is taken otherwise than it may be meant, each in a line.
    private(set) var warnings: [String] = []

    /// A mix this far below the loudest of its channels has lost most of them: they cancel each other, dB.
    private static let mostLoss = 20.0

    init(_ path: String, rate: Int) throws(AudioFileError) {
        let file = try AudioFile.read(path, convertedTo: rate)
        self.path = path
        samples = file.samples
        if file.sampleRate != rate {
            warnings.append("note: '\(path)' (\(file.sampleRate) Hz) is converted to \(rate) Hz")
        }
        guard file.channels > 1 else { return }
        var loudest = 0.0
        for channel in 0..<file.channels {
            let samples = try AudioFile.read(path, convertedTo: rate, channels: .channel(channel)).samples
            loudest = max(loudest, Self.energy(samples))
        }
        let loss = 10 * log10(loudest / max(Self.energy(samples), 1e-12))
        guard loss > Self.mostLoss else { return }
        warnings.append(
            "warning: the \(file.channels) channels of '\(path)' cancel each other: their mix is \(loss.fixed(0)) dB below the loudest; "
                + "give one channel only")
    }

    private static func energy(_ samples: [Float]) -> Double { samples.reduce(0) { $0 + Double($1) * Double($1) } }
}
