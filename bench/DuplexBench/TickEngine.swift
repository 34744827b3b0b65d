import SimulatedCalls
import VoiceDevices
import VoiceEngine
import VoiceRealtime
import VoiceSimulation
import VoiceWire

/// An engine in virtual time: an office, a talker and a loudspeaker before its microphone, another talker's packets in
/// its receive ring.
///
/// Device, room and network are simulated between the engine's runs; what is measured is the runs alone, each of which
/// is what the media thread does after a wake-up: both rings looked at, all that is due processed, encoded, decoded,
/// mixed.
final class TickEngine {
    /// What 10 ms cost.
    struct Cost {
        var nanoseconds: Int64 = 0
        var allocations: Int64 = 0
    }

    /// Frames of a tick: 10 ms at 48 kHz.
    static let tickFrames = 480
    /// Frames of a device period, as ALSA devices have it where nothing else is asked for: two runs in a tick.
    static let periodFrames = 240
    /// A converter's own delay, which no device tells of: 5 ms.
    private static let converterFrames = 240
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    /// The packets that come in.
    let farEnd: FarEnd
    private let core: EngineCore
    private let device: SimulatedDevice<ConversationAir>
    private var streams: [OutgoingStream] = []
    /// RTP packets that were to go to the network.
    private(set) var packetsSent = 0
    private var ticks = 0
    private var delivered = 0

    /// An engine of this configuration, for `duration` of talk, that sends so many streams beside the microphone.
    init(_ configuration: EngineConfiguration, duration: Duration, seed: UInt64, fedStreams: Int = 0) throws {
        var office = RoomConditions.office
        office.bulkDelayFrames = Self.converterFrames
        let frames = Int(duration / .milliseconds(10)) * Self.tickFrames
        let air = ConversationAir(
            acoustics: try RoomAcoustics(office, seed: seed),
            talker: SpeechSource(SyntheticSpeech(seed: seed, voice: .low)),
            longestRecording: frames)
        var shape = SimulatedDeviceConfiguration(pacing: .virtual(start: Self.start))
        shape.periodFrames = Self.periodFrames
        device = try SimulatedDevice(air: air, configuration: shape)
        var configuration = configuration
        configuration.device = .custom(device)
        // It runs only when the device moves, and keeps no deadlines between.
        configuration.playoutMargin = .fixed(PlayoutMargin.limit)
        core = try EngineCore(configuration, eventWake: nil) { _ in }
        farEnd = try FarEnd(
            configuration.encoder, configuration.application, start: Self.start, duration: duration, seed: seed)
        try core.send(.addStream(synchronizationSource: FarEnd.source))
        try core.send(.publish(RTPStreamStart(synchronizationSource: 1, sequenceNumber: 0, timestamp: 0)))
        for number in 0..<fedStreams {
            let stream = try core.openStream("stream \(number)", .music) { _ in }
            let start = RTPStreamStart(
                synchronizationSource: UInt32(2 + number), sequenceNumber: 0, timestamp: 0, line: stream.id.rawValue)
            try core.send(.publish(start))
            streams.append(stream)
        }
    }

    /// Gives each of the streams beside the microphone its next sound.
    func feed(_ sound: Span<Float>) throws(Refused) {
        for stream in streams where stream.offer(sound) != sound.count { throw Refused() }
    }

    /// A stream's queue is full.
    struct Refused: Error, CustomStringConvertible {
        var description: String { "a stream's queue is full: the engine has not taken what it was fed" }
    }

    /// Lets 10 ms pass, and measures the engine's share of them.
    func tick() -> Cost {
        var cost = Cost()
        ticks += 1
        let end = Self.start.advanced(byFrames: ticks * Self.tickFrames, sampleRate: 48_000)
        while let wake = device.nextWake, wake <= end {
            deliver(until: wake)
            device.advance(to: wake)
            let allocations = RealtimeWatch.allocations ?? 0
            var watch = CPUStopwatch()
            core.run(now: wake, ownsThread: true)
            cost.nanoseconds += watch.lap()
            cost.allocations += (RealtimeWatch.allocations ?? 0) - allocations
            core.recorder?.drain()
            collect()
        }
        return cost
    }

    /// Gives `body` what the microphone heard in a tick and what the loudspeaker sounded `lead` frames later.
    func withSound(ofTick tick: Int, lead: Int, _ body: (_ microphone: Span<Float>, _ speaker: Span<Float>) -> Void) {
        let first = tick * Self.tickFrames
        device.withAir { air in
            let recording = air.recording
            body(
                recording.microphone.span.extracting(first..<first + Self.tickFrames),
                recording.speaker.span.extracting(first + lead..<first + lead + Self.tickFrames))
        }
    }

    /// What has become of the recording; nil without one.
    var recording: RecordingStatus? { core.recorder?.status }

    /// The engine's own account.
    var statistics: EngineStatistics {
        EngineStatistics(core.statistics(), device: core.counters.counts, roundTrip: nil, room: nil)
    }

    private func deliver(until now: MonotonicTime) {
        while delivered < farEnd.packets.count, farEnd.arrivals[delivered] <= now {
            let tag = PacketTag(time: farEnd.arrivals[delivered])
            let packet = farEnd.packets[delivered]
            let isTaken = core.link.received.push(packet.span, tag: tag)
            precondition(isTaken, "the receive ring is full")
            delivered += 1
        }
    }

    private static func isSound(_ next: borrowing PacketConsumer) -> Bool { DatagramKind(of: next.peek()) == .rtp }

    private func collect() {
        while core.link.sending.available > 0 {
            if Self.isSound(core.link.sending) { packetsSent += 1 }
            core.link.sending.release()
        }
        while core.nextEvent() != nil {}
    }
}
