internal import CDuplexVoice
internal import VoiceEngine

extension EngineConfiguration {
    /// A `dv_engine_config` whose every number is in its range. What only a card can tell, ``VoiceEngine/start()``
    /// does.
    init(_ given: dv_engine_config) throws(Failure) {
        self = try unsafe Preset(number: given.preset, "config.preset").configuration
        let capture = try unsafe text(given.capture_device, "config.capture_device")
        let playback = try unsafe text(given.playback_device, "config.playback_device")
        let channels = try unsafe ChannelMix(given)
        switch unsafe Int(given.sound) {
        case DV_SOUND_CARDS: name(capture, playback, channels)
        case DV_SOUND_CLIENT:
            guard capture == nil, playback == nil, channels == nil else {
                throw .argument("config names a sound card, and config.sound is DV_SOUND_CLIENT; leave one out")
            }
            device = .custom(ClientDevice())
        default: throw .argument(unsafe "config.sound is \(given.sound); take DV_SOUND_CARDS or DV_SOUND_CLIENT")
        }
        if unsafe given.backend != 0 { backend = try unsafe ProcessingBackend(number: given.backend) }
        if unsafe given.maximum_talkers != 0 { maximumStreams = unsafe Int(given.maximum_talkers) }
        routeProfile = try unsafe RouteProfile(number: given.route, "config.route")
        switch unsafe Int(given.memory_lock) {
        case DV_LOCK_RINGS: memoryLock = .rings
        case DV_LOCK_PROCESS: memoryLock = .process
        default:
            throw .argument(unsafe "config.memory_lock is \(given.memory_lock); take DV_LOCK_RINGS or DV_LOCK_PROCESS")
        }
        try unsafe prioritize(given.priority)
        try unsafe encode(given)
        do throws(EngineError) { try validate() } catch { throw Failure(error) }
    }

    /// Where either has a name, ALSA's `default` is what has none.
    private mutating func name(_ capture: String?, _ playback: String?, _ channels: ChannelMix?) {
        guard capture != nil || playback != nil || channels != nil else { return }
        var card = ALSADeviceConfiguration()
        if case .alsa(let preset) = device { card = preset }
        card.captureName = capture ?? card.captureName
        card.playbackName = playback ?? card.playbackName
        card.captureChannels = channels ?? card.captureChannels
        device = .alsa(card)
    }

    private mutating func prioritize(_ priority: Int32) throws(Failure) {
        switch priority {
        case 0: break
        case -1: (mediaPriority, networkPriority) = (0, 0)
        case 2...99: (mediaPriority, networkPriority) = (Int(priority), max(1, Int(priority) - 5))
        default: throw .argument("config.priority is \(priority); take 2 to 99, 0 for 60, -1 for none")
        }
    }

    private mutating func encode(_ given: dv_engine_config) throws(Failure) {
        if unsafe given.bitrate_bps != 0 { encoder.bitratePerSecond = unsafe Int(given.bitrate_bps) }
        let milliseconds = unsafe given.packet_ms
        guard milliseconds != 0 else { return }
        guard let duration = OpusFrameDuration.allCases.first(where: { Float($0.frames) == 48 * milliseconds }) else {
            throw .argument("config.packet_ms is \(milliseconds); take 2.5, 5, 10, 20, 40 or 60")
        }
        encoder.frameDuration = duration
    }
}

extension ChannelMix {
    /// The channels that the microphone is on; nil where none are named.
    fileprivate init?(_ given: dv_engine_config) throws(Failure) {
        let first = unsafe given.first_capture_channel
        let last = unsafe given.last_capture_channel == 0 ? first : given.last_capture_channel
        guard last > 0 else { return nil }
        guard 1 <= first, first <= last, last <= 256 else {
            throw .argument(
                "config.first_capture_channel is \(first), the last one \(last); take 1 to 256, the last not before it")
        }
        self = .channels(Int(first) - 1...Int(last) - 1)
    }
}

extension EngineConfiguration.Preset {
    /// By the header's number.
    init(number: UInt32, _ field: String) throws(Failure) {
        switch Int(number) {
        case DV_ENGINE_VOICE_CHAT: self = .voiceChat
        case DV_ENGINE_VOICE_AGENT: self = .voiceAgent
        case DV_ENGINE_HEADSET: self = .headset
        case DV_ENGINE_LOW_DELAY: self = .lowDelay
        case DV_ENGINE_SPEAKERPHONE: self = .speakerphone
        case DV_ENGINE_MUSIC_LESSON: self = .musicLesson
        case DV_ENGINE_NARROW_BAND: self = .narrowBand
        case DV_ENGINE_CAR: self = .car
        default: throw .argument("\(field) is \(number); take one of DV_ENGINE_VOICE_CHAT and its like")
        }
    }
}

extension RouteProfile {
    /// By the header's number.
    init(number: UInt32, _ field: String) throws(Failure) {
        switch Int(number) {
        case DV_ROUTE_AUTOMATIC: self = .automatic
        case DV_ROUTE_HEADSET: self = .headset
        case DV_ROUTE_SPEAKER: self = .speaker
        default: throw .argument("\(field) is \(number); take one of DV_ROUTE_AUTOMATIC and its like")
        }
    }
}

extension ProcessingBackend {
    /// By the header's number.
    init(number: UInt32) throws(Failure) {
        switch Int(number) {
        case DV_BACKEND_NATIVE: self = .native
        case DV_BACKEND_WEBRTC: self = .webRTC
        case DV_BACKEND_SPEEXDSP: self = .speexDSP
        case DV_BACKEND_BYPASS: self = .bypass
        default: throw .argument("config.backend is \(number); take one of DV_BACKEND_NATIVE and its like")
        }
    }
}
