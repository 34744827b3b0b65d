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
        guard let loss = file.mixLossDecibels, loss > Self.mostLoss else { return }
        warnings.append(
            "warning: the \(file.channels) channels of '\(path)' cancel each other: their mix is \(loss.fixed(0)) dB below the loudest; "
                + "give one channel only")
    }
}
