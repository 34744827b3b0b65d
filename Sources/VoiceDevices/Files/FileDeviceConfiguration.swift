/// Which files stand in for a sound card and how.
public struct FileDeviceConfiguration: Equatable, Sendable {
    /// What the microphone does once the input has been played to its end.
    public enum AfterInput: Equatable, Sendable {
        /// Hears silence; the end is told by `endOfInput`.
        case silence
        /// Begins again with the file's first frame, and never comes to an end. A pipe, and a file without a frame, end
        /// all the same.
        case loop
    }

    /// The sound file that is the microphone; nil for silence.
    public var input: String?
    /// The WAV file, 48 kHz mono, that is made of what is played; nil for none.
    public var output: String?
    /// What becomes of several channels of the input.
    public var inputChannels = ChannelMix.average
    /// How the output is written.
    public var outputEncoding = AudioFileEncoding.int16
    /// What follows the input.
    public var afterInput = AfterInput.silence
    /// Period, buffer and pacing, as of a simulated card.
    public var card: SimulatedDeviceConfiguration

    /// Files in real time, or in virtual time by ``FileDevice/step()``; periods of 10 ms.
    public init(input: String?, output: String?, pacing: SimulatedDeviceConfiguration.Pacing = .realTime(priority: 70))
    {
        self.input = input
        self.output = output
        card = SimulatedDeviceConfiguration(pacing: pacing)
        card.periodFrames = 480
    }
}
