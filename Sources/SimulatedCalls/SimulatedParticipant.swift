internal import VoiceDevices
internal import VoiceEngine
internal import VoicePeers
internal import VoiceRealtime
internal import VoiceRooms
internal import VoiceSimulation

/// One side of a call: its engine, its room and the links of its network.
final class SimulatedParticipant<Security: PeerSecurity> {
    let core: EngineCore
    let device: any SteppedDevice
    /// Where its socket is bound.
    var address: EndpointAddress
    var guest: RoomGuest<Security>
    var media: RoomMedia
    var uplink: SimulatedLink<[UInt8]>
    var downlink: SimulatedLink<[UInt8]>
    var events: [EngineEvent] = []
    var isConnected = true
    /// When the engine must run next if its device does not move before.
    var nextRun: MonotonicTime?

    init(
        _ configuration: SimulatedCallConfiguration, side: SimulatedCallSide, generator: inout SeededGenerator,
        security: (CookieKey) -> Security
    ) throws {
        var acoustics = configuration.rooms[side.rawValue]
        acoustics.bulkDelayFrames = min(acoustics.bulkDelayFrames, longestUnreportedDelay)
        let frames = MonotonicTime(atOrAfter: configuration.recorded ?? configuration.longest).frames(
            since: MonotonicTime(nanoseconds: 0), sampleRate: 48_000)
        let air = ConversationAir(
            acoustics: try RoomAcoustics(acoustics, seed: generator.next()),
            talker: configuration.talkers[side.rawValue], longestRecording: frames)
        device = try configuration.device(air, side)
        var engine = configuration.engine
        engine.device = .custom(device)
        engine.recording = configuration.recordings[side.rawValue]
        core = try EngineCore(engine, keepsDeadlines: true, eventWake: nil) { _ in }
        address = EndpointAddress(high: 0, low: UInt64(side.rawValue + 1), port: 4_999)
        let key = CookieKey(high: generator.next(), low: generator.next())
        guest = RoomGuest(
            session: try RoomSession(token: [UInt8(side.rawValue)], publishing: configuration.publishing),
            server: simulatedServer,
            security: security(key), cookieKey: key)
        var requests = StreamRequests()
        requests.presence.interruptibleBy = configuration.publishing ?? .anyone
        requests.presence.isPublishedByJoin = configuration.publishing != nil
        media = RoomMedia(randomStart: generator.next(), requests: requests)
        uplink = try SimulatedLink(configuration.network, seed: generator.next())
        downlink = try SimulatedLink(configuration.network, seed: generator.next())
    }

    /// Another socket, at another port, as the system gives one.
    func openSocket() {
        address = EndpointAddress(high: 0, low: address.low, port: address.port + 1)
    }
}

/// Simulated time begins here; not at zero, so that nothing can mistake zero for "unknown".
let simulatedStart = MonotonicTime(nanoseconds: 1_000_000_000)
/// What a device does not tell of its delay: 5 ms, as converters have it. Longer buffers are in its timestamps.
private let longestUnreportedDelay = 240
let simulatedServer = EndpointAddress(high: 0, low: 100, port: 7_900)

extension SimulatedCallConfiguration {
    fileprivate func device(_ air: consuming sending ConversationAir, _ side: SimulatedCallSide) throws
        -> any SteppedDevice
    {
        let ppm = driftPPM[side.rawValue]
        if let playbackDriftPPM {
            var shape = TwoClockDevice<ConversationAir>.Configuration(start: simulatedStart)
            shape.periodFrames = periodFrames
            shape.capturePPM = ppm
            shape.playbackPPM = playbackDriftPPM[side.rawValue]
            return TwoClockDevice(air: air, configuration: shape)
        }
        var shape = SimulatedDeviceConfiguration(pacing: .virtual(start: simulatedStart))
        shape.periodFrames = periodFrames
        shape.driftPPM = ppm
        return try SimulatedDevice(air: air, configuration: shape)
    }
}

/// A device in virtual time with a room around it.
protocol SteppedDevice: AudioDevice {
    func advance(to time: MonotonicTime) -> Int
    var nextWake: MonotonicTime? { get }
    func withAir<Result>(_ body: (inout ConversationAir) -> Result) -> Result
}

extension SimulatedDevice<ConversationAir>: SteppedDevice {}

extension TwoClockDevice<ConversationAir>: SteppedDevice {}

extension MonotonicTime {
    /// The first nanosecond that is not before `time`: rounded up, so that what is due at `time` is due then.
    init(atOrAfter time: Duration) {
        let parts = time.components
        let (whole, rest) = parts.attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        self.init(nanoseconds: parts.seconds * 1_000_000_000 + whole + (rest > 0 ? 1 : 0))
    }
}
