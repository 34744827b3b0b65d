import ArgumentParser
import VoiceEngine

/// Joins a room and talks.
struct Call: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Join a room and talk: with a sound card, or with WAV files.",
        discussion: """
            With --input, the file is the microphone, paced in real time, and the call ends with it; what is heard goes to --output. Without, \
            the call runs until Control-C or --seconds.
            """)

    /// The configurations that come with the engine.
    enum Preset: String, CaseIterable, ExpressibleByArgument {
        case voiceAgent, voiceChat, headset

        var configuration: EngineConfiguration {
            switch self {
            case .voiceAgent: .voiceAgent
            case .voiceChat: .voiceChat
            case .headset: .headset
            }
        }
    }

    @Option(help: "The room server: udp://HOST:PORT.")
    var server: String
    @Option(help: "The access token; or set DUPLEX_TOKEN.")
    var token: String?
    @Option(help: "ALSA PCM to capture from.")
    var capture = "default"
    @Option(help: "ALSA PCM to play to.")
    var playback = "default"
    @Option(help: "Frames of 48 kHz in a device period, as near as the device can.")
    var period = 240
    @Option(help: "A sound file to speak instead of a microphone.", completion: .file())
    var input: String?
    @Option(help: "A WAV file to write what is heard to, instead of a loudspeaker.", completion: .file())
    var output: String?
    @Option(help: "Who the call is for: \(Preset.allCases.map(\.rawValue).joined(separator: ", ")).")
    var preset = Preset.voiceChat
    @Option(help: "End the call after this many seconds.")
    var seconds: Double?
    @Flag(help: "Talk beyond loopback although nothing is encrypted.")
    var allowPlaintext = false
    @Flag(help: "Print events and the summary as NDJSON.")
    var json = false

    func validate() throws {
        if let seconds, seconds <= 0 { throw ValidationError("--seconds is \(seconds); use more than 0") }
        guard (16...4_800).contains(period) else { throw ValidationError("--period is \(period); use 16 to 4800 frames") }
    }

    func run() async throws {
        try await reportingFailure {
            let call = try CallRun(self)
            try await call.run()
        }
    }
}
