import ArgumentParser
import VoiceEngine

/// What a measurement through the engine has beyond one of a device.
struct EngineLoopbackOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Engine: ALSA PCM that plays the pulse to A's microphone.", valueName: "pcm"))
    var mouth: String?
    @Option(help: ArgumentHelp("Engine: ALSA PCM that records what B's loudspeaker plays.", valueName: "pcm"))
    var ear: String?
    @Option(help: ArgumentHelp("Engine: A's loudspeaker; without it A only captures.", valueName: "pcm"))
    var backPlayback: String?
    @Option(help: ArgumentHelp("Engine: B's microphone; without it B only plays.", valueName: "pcm"))
    var backCapture: String?
    @Option(help: "Engine: milliseconds of sound in a packet. (default: 20)")
    var frameMs: FrameMilliseconds?
    @Option(help: "Engine: what is done to the microphone. (default: off)")
    var processing: Call.Processing?
    @Flag(help: "Engine: everything for the least delay, at the expense of error correction.")
    var lowDelay = false
    @Option(
        help: ArgumentHelp(
            "Engine: how long the call goes on before the first pulse. (default: 3)", valueName: "seconds"))
    var settle: Double?

    /// How much sound a packet carries: whatever the codec offers.
    struct FrameMilliseconds: ExpressibleByArgument {
        let duration: OpusFrameDuration

        init?(argument: String) {
            guard let found = OpusFrameDuration.allCases.first(where: { Self.text($0) == argument }) else { return nil }
            duration = found
        }

        static var allValueStrings: [String] { OpusFrameDuration.allCases.map(text) }

        private static func text(_ duration: OpusFrameDuration) -> String {
            duration.frames % 48 == 0 ? "\(duration.frames / 48)" : "\(Double(duration.frames) / 48)"
        }
    }

    /// The options that were given, by name; all of them are of the engine.
    private var given: [String] {
        var names: [String] = []
        if mouth != nil { names.append("--mouth") }
        if ear != nil { names.append("--ear") }
        if backPlayback != nil { names.append("--back-playback") }
        if backCapture != nil { names.append("--back-capture") }
        if frameMs != nil { names.append("--frame-ms") }
        if processing != nil { names.append("--processing") }
        if lowDelay { names.append("--low-delay") }
        if settle != nil { names.append("--settle") }
        return names
    }

    func validate(through depth: Loopback.Depth) throws {
        switch depth {
        case .device:
            guard let first = given.first else { return }
            throw ValidationError("\(first) is for --through engine; a device alone has none of it")
        case .engine:
            guard mouth != nil, ear != nil else {
                throw ValidationError(
                    "--through engine needs --mouth, a PCM that A's --capture hears, and --ear, one that hears B's --playback"
                )
            }
            if let settle, !(settle >= 0 && settle <= 3_600) {
                throw ValidationError("--settle is \(settle); use 0 to 3600 seconds")
            }
        }
    }

    /// What the options ask of both engines.
    var configuration: EngineConfiguration {
        var configuration = EngineConfiguration()
        configuration.processing = (processing ?? .off).settings
        if let frameMs { configuration.encoder.frameDuration = frameMs.duration }
        if lowDelay { configuration.application = .lowDelay }
        return configuration
    }

    /// In frames.
    var settling: Int { Int((settle ?? 3) * 48_000) }
}
