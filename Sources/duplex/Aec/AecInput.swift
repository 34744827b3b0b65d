import VoiceDevices

/// One recording as it was read: mixed to one channel, and at the rate at which everything is processed.
struct AecInput {
    let path: String
    let samples: [Float]
    /// What of it is taken otherwise than it may be meant, each in a line.
    private(set) var warnings: [String] = []

    /// The longest recording: an hour at 16 kHz, 20 minutes at 48. It is held in memory some seven times over, as
    /// samples of 4 bytes: 1.6 GB.
    static let mostFrames = 57_600_000

    /// A mix this far below the loudest of its channels has lost most of them: they cancel each other, dB.
    private static let mostLoss = 20.0

    init(_ path: String, rate: Int) throws(Failure) {
        let longest = Duration.seconds(Self.mostFrames / rate)
        let file: AudioFile
        do throws(AudioFileError) {
            file = try AudioFile.read(path, convertedTo: rate, longest: longest)
        } catch {
            guard case .tooLong = error else { throw Failure(error) }
            throw Failure(
                .inputUnusable,
                "'\(path)' lasts longer than \(longest.components.seconds / 60) minutes, the most that is processed at "
                    + "\(rate) Hz; cut it")
        }
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
