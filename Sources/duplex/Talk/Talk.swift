import ArgumentParser
import VoiceEngine
import VoicePartner
import VoiceTransport

/// Talks with a partner.
struct Talk: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Talk with a partner: with a sound card, or with sound files.",
        discussion: """
            With --offline the partner runs on this machine alone: pocketsphinx hears, espeak-ng speaks, and in between it tells the time or a story, \
            counts, and says what you say ("say good morning"). tools/setup --agent installs both. You may interrupt it.

            With --input, the file is the microphone, in real time, and the talk ends when all of it is answered. What is heard goes to --output, whose \
            frame 0 is the input's frame 0.

            With --requests other programs have the partner say something, answer what nobody spoke, or know something of them, by lines on standard input, as \
            agents in rooms take them (docs/protocol.md, section 12), one after another: {"agent":"say","text":"One moment, please."}

            On a terminal the space bar begins and ends a turn (push), or begins one (tap); c cancels, q leaves. In the background, after Control-Z and 'bg', the talk goes on \
            without them.

            For example:

              duplex talk --offline
              duplex talk --offline --input questions.wav --output heard.wav
            """)

    /// How turns begin and end.
    enum Mode: String, CaseIterable, ExpressibleByArgument {
        case push, tap, duplex

        var talkMode: TalkMode {
            switch self {
            case .push: .pushToTalk()
            case .tap: .tapToTalk()
            case .duplex: .duplex()
            }
        }
    }

    @OptionGroup var partner: TalkPartner
    @Option(help: "How turns begin and end.") var mode = Mode.duplex
    @Option(help: "ALSA PCM to capture from. (default: default)") var capture: String?
    @Option(help: "ALSA PCM to play to. (default: default)") var playback: String?
    @OptionGroup var channels: CaptureChannels
    @Option(help: "Frames of 48 kHz in a sound card's period, as near as it can. (default: 240)") var period: Int?
    @Option(help: "Whether the card is a headset or a loudspeaker. (default: automatic, by its name)")
    var routeProfile: RouteProfile?
    @Option(help: "A sound file to speak instead of a microphone.", completion: .file()) var input: String?
    @Option(help: "A WAV file to write what is heard to, instead of a loudspeaker.", completion: .file())
    var output: String?
    @Option(help: "End the talk after this many seconds.") var seconds: Double?
    @OptionGroup var recording: RecordOptions
    @Flag(help: "Take requests to the partner from standard input, one a line.") var requests = false
    @Flag(help: "Print events and the summary as NDJSON.") var json = false

    /// Whether files take the sound card's place.
    var usesFiles: Bool { input != nil || output != nil }

    func validate() throws {
        if let seconds, !(seconds > 0 && seconds <= 86_400) {
            throw ValidationError("--seconds is \(seconds); use more than 0 and at most 86400 seconds")
        }
        if let period, !(16...4_800).contains(period) {
            throw ValidationError("--period is \(period); use 16 to 4800 frames")
        }
        let isOfCard = capture != nil || playback != nil || channels.mix != nil || period != nil || routeProfile != nil
        if usesFiles, isOfCard {
            throw ValidationError(
                """
                --capture, --capture-channels, --playback, --period and --route-profile are of a sound card, which \
                --input and --output replace; use either
                """)
        }
        if usesFiles, input == nil { throw ValidationError("--output needs --input, the file to speak") }
        if usesFiles, mode != .duplex {
            throw ValidationError("--mode \(mode.rawValue) needs a key; with --input, use duplex")
        }
        if requests, mode != .duplex {
            throw ValidationError("--mode \(mode.rawValue) needs a key; with --requests, use duplex")
        }
    }

    func run() async throws {
        ProcessMemory.keepOutOfCoreDumps()
        try await reportingFailure { try await TalkRun(self).run() }
    }

    /// What the options ask of the engine. Files have no echo.
    func engineConfiguration(files: DeferredFileDevice?) throws -> EngineConfiguration {
        var configuration = files == nil ? EngineConfiguration.voiceAgent : .headset
        if let files {
            configuration.device = .custom(files)
        } else {
            var card = ALSADeviceConfiguration()
            (card.captureName, card.playbackName) = (capture ?? "default", playback ?? "default")
            channels.apply(to: &card)
            if let period { card.periodFrames = period }
            configuration.device = .alsa(card)
            if let routeProfile { configuration.routeProfile = routeProfile }
        }
        try recording.apply(to: &configuration)
        return configuration
    }
}
