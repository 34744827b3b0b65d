import ArgumentParser
import VoiceEngine

/// What a measurement through the engine has beyond one of a device.
struct EngineLoopbackOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Engine and external: ALSA PCM that plays the pulse.", valueName: "pcm"))
    var mouth: String?
    @Option(help: ArgumentHelp("Engine and external: ALSA PCM that hears it at the other end.", valueName: "pcm"))
    var ear: String?
    @Option(help: ArgumentHelp("Engine: A's loudspeaker; without it A only captures.", valueName: "pcm"))
    var backPlayback: String?
    @Option(help: ArgumentHelp("Engine: B's microphone; without it B only plays.", valueName: "pcm"))
    var backCapture: String?
    @Option(help: "Engine: milliseconds of sound in a packet. (default: 20, with --low-delay 10)")
    var frameMs: FrameMilliseconds?
    @Option(help: "Engine: what is done to the microphone. (default: off)")
    var processing: Call.Processing?
    @Flag(
        help:
            "Engine: the preset for the shortest way, at the expense of protection against loss; periods of 120 frames."
    )
    var lowDelay = false
    @Option(
        help: ArgumentHelp(
            "Engine and external: how long to wait before the first pulse. (default: 3)", valueName: "seconds"))
    var settle: Double?

    /// The options that only engines understand, as far as they were given.
    private var givenForEngines: [String] {
        var names: [String] = []
        if backPlayback != nil { names.append("--back-playback") }
        if backCapture != nil { names.append("--back-capture") }
        if frameMs != nil { names.append("--frame-ms") }
        if processing != nil { names.append("--processing") }
        if lowDelay { names.append("--low-delay") }
        return names
    }

    /// The options that only a way from a mouth to an ear has, as far as they were given.
    private var givenForWays: [String] {
        var names: [String] = []
        if mouth != nil { names.append("--mouth") }
        if ear != nil { names.append("--ear") }
        if settle != nil { names.append("--settle") }
        return names
    }

    func validate(through depth: Loopback.Depth) throws {
        if depth != .engine, let first = givenForEngines.first {
            throw ValidationError("\(first) is for --through engine; there is no engine of ours in it")
        }
        switch depth {
        case .device:
            guard let first = givenForWays.first else { return }
            throw ValidationError("\(first) is for --through engine or external; a device alone has none of it")
        case .engine where mouth == nil || ear == nil:
            throw ValidationError(
                "--through engine needs --mouth, a PCM that A's --capture hears, and --ear, one that hears B's --playback"
            )
        case .external where mouth == nil || ear == nil:
            throw ValidationError("--through external needs --mouth and --ear, the PCMs at the two ends of the way")
        case .engine, .external:
            if let settle, !(settle >= 0 && settle <= 3_600) {
                throw ValidationError("--settle is \(settle); use 0 to 3600 seconds")
            }
        }
    }

    /// What the options ask of both engines.
    var configuration: EngineConfiguration {
        var configuration = lowDelay ? EngineConfiguration.lowDelay : EngineConfiguration(processing: .bypass)
        configuration.memoryLock = .process
        processing?.apply(to: &configuration)
        if let frameMs { configuration.encoder.frameDuration = frameMs.duration }
        return configuration
    }

    /// A sound card as the options ask for it, but for its names: the shortest delay takes the shortest periods.
    var card: ALSADeviceConfiguration { lowDelay ? .lowDelay : ALSADeviceConfiguration() }

    /// In frames.
    var settling: Int { Int((settle ?? 3) * 48_000) }
}
