import ArgumentParser
import VoiceEngine
import VoiceTransport

/// Joins a room and talks.
struct Call: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Join a room and talk: with a sound card, or with sound files.",
        discussion: """
            With a sound card the call runs until Control-C or --seconds. With --input, the file is the microphone, paced in real time \
            from the moment of joining, and the call ends with it; with --seconds it lasts that long, and silence follows the file. What is \
            heard goes to --output, whose frame 0 is the input's frame 0.

            On a terminal, keys mute, change the volume and go over to other sound cards; ? lists them. In the background, after Control-Z \
            and 'bg', the call goes on without them.

            A server that does not answer is given up after 10 s, one that is lost in a call after about 36 s.

            For example:

              duplex call --server udp://127.0.0.1:7900 --token-file token
              duplex call --server udp://127.0.0.1:7900 --token-file token --input in.wav
            """)

    /// Who may interrupt a caller.
    enum Interrupter: String, CaseIterable, ExpressibleByArgument {
        case publisher, anyone

        var policy: InterruptionPolicy {
            switch self {
            case .publisher: .publisher
            case .anyone: .anyone
            }
        }
    }

    /// What is done to the microphone.
    enum Processing: String, CaseIterable, ExpressibleByArgument {
        case voiceAgent, voiceChat, headset, off

        var settings: ProcessingSettings {
            switch self {
            case .voiceAgent: .voiceAgent
            case .voiceChat: .voiceChat
            case .headset: .headset
            case .off: .bypass
            }
        }

        /// Has it done by the engine's usual backend; a bypass takes settings and does nothing.
        func apply(to configuration: inout EngineConfiguration) {
            configuration.processing = settings
            if self != .off { configuration.backend = EngineConfiguration().backend }
        }
    }

    @Option(
        help:
            "The room server: the URL that it prints, duplex://HOST:PORT/?fingerprint=…; or udp://HOST:PORT, unprotected."
    )
    var server: String
    @OptionGroup var access: CallToken

    @Option(help: "ALSA PCM to capture from, or none. (default: default)")
    var capture: String?
    @Option(help: "ALSA PCM to play to, or none. (default: default)")
    var playback: String?
    @OptionGroup var channels: CaptureChannels
    @Option(
        help: "Frames of 48 kHz in a sound card's period, as near as it can. (default: 240; with lowDelay 120)")
    var period: Int?

    @Option(
        help: "When a sound card goes away: wait for it, or move on. (default: pinned; of 'default': followDefault)")
    var routePolicy: RoutePolicy?
    @Option(help: "Whether the card is a headset or a loudspeaker. (default: automatic, by its name)")
    var routeProfile: RouteProfile?

    @Option(help: "A sound file to speak instead of a microphone.", completion: .file())
    var input: String?
    @Option(help: "A WAV file to write what is heard to, instead of a loudspeaker.", completion: .file())
    var output: String?
    @Option(help: "Begin the files only when somebody else is there; give up after this many seconds.")
    var wait: Double?

    @Option(help: "Who the call is for. (default: voiceChat with a sound card, headset with files, which have no echo)")
    var preset: EngineConfiguration.Preset?
    @Option(help: "What is done to the microphone, if not as the preset has it.")
    var processing: Processing?
    @Option(help: "Who may interrupt what this caller says: publisher (nobody else) or anyone, as an agent wants it.")
    var interruptibleBy = Interrupter.publisher
    @Option(help: "Milliseconds of sound in a packet, if not as the preset has it.")
    var frameMs: FrameMilliseconds?
    @Option(help: "End the call after this many seconds.")
    var seconds: Double?
    @OptionGroup var recording: RecordOptions
    @Flag(help: "Talk to udp://, beyond loopback, although nothing is protected.")
    var allowPlaintext = false
    @Flag(help: "Print events and the summary as NDJSON.")
    var json = false

    /// Whether files take the sound card's place.
    var usesFiles: Bool { input != nil || output != nil }

    /// A day; longer is a mistake.
    private static let longest = 86_400.0

    func validate() throws {
        for (name, value) in [("--seconds", seconds), ("--wait", wait)] {
            guard let value else { continue }
            guard value > 0, value <= Self.longest else {
                throw ValidationError("\(name) is \(value); use more than 0 and at most \(Int(Self.longest)) seconds")
            }
        }
        if let period, !(16...4_800).contains(period) {
            throw ValidationError("--period is \(period); use 16 to 4800 frames")
        }
        if usesFiles, capture != nil || playback != nil || period != nil || channels.mix != nil {
            throw ValidationError(
                """
                --capture, --capture-channels, --playback and --period are of a sound card, which --input and --output \
                replace; use either
                """)
        }
        if usesFiles, routePolicy != nil || routeProfile != nil {
            throw ValidationError(
                "--route-policy and --route-profile are of a sound card, which --input and --output replace; use either"
            )
        }
        if wait != nil, !usesFiles { throw ValidationError("--wait is for files; a sound card begins at once") }
        if capture == "none", playback == "none" {
            throw ValidationError("with neither --capture nor --playback there is no call")
        }
        do throws(RoomEndpointError) {
            _ = try RoomEndpoint(url: server, token: "")
        } catch {
            switch error {
            case .malformedURL(let url, let fault): throw ValidationError("--server is '\(url)': \(fault)")
            case .tokenTooLong: break
            }
        }
    }

    func run() async throws {
        // Before there are keys and voices in it.
        ProcessMemory.keepOutOfCoreDumps()
        try await reportingFailure { try await CallRun(self).run() }
    }

    /// What the options ask of the room.
    var roomConfiguration: RoomClientConfiguration {
        RoomClientConfiguration(allowPlaintext: allowPlaintext, interruptibleBy: interruptibleBy.policy)
    }

    /// What the options ask of the engine.
    func engineConfiguration(files: DeferredFileDevice?) throws -> EngineConfiguration {
        var configuration = (preset ?? (usesFiles ? .headset : .voiceChat)).configuration
        processing?.apply(to: &configuration)
        // The program is there for the call alone.
        configuration.memoryLock = .process
        if let frameMs { configuration.encoder.frameDuration = frameMs.duration }
        if let files {
            configuration.device = .custom(files)
        } else {
            func name(_ option: String?) -> String? { option == "none" ? nil : option ?? "default" }
            var card = ALSADeviceConfiguration()
            if case .alsa(let preset) = configuration.device { card = preset }
            (card.captureName, card.playbackName) = (name(capture), name(playback))
            channels.apply(to: &card)
            if let period { card.periodFrames = period }
            configuration.device = .alsa(card)
            configuration.routePolicy = routePolicy
            if let routeProfile { configuration.routeProfile = routeProfile }
        }
        try recording.apply(to: &configuration)
        return configuration
    }
}

extension EngineConfiguration.Preset: ExpressibleByArgument {}
extension RoutePolicy: ExpressibleByArgument {}
extension RouteProfile: ExpressibleByArgument {}
