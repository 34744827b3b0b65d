import SimulatedCalls
import VoiceDevices
import VoiceEngine
import VoiceRealtime
import VoiceSimulation
import VoiceWire

/// A call between two engines of ours in simulated time, without a room between them, and what a capture beside the
/// listener has of it.
///
///     talker's engine ─► losses ─► 20 ms ─┬─► listener's engine
///            ▲                            └─► arrivals   │
///            └───────────── 20 ms ◄── reports ◄──────────┘
struct OwnCall {
    /// A datagram beside the listener.
    struct Arrival {
        /// Since the call began.
        var time: Duration
        var datagram: [UInt8]
        /// Of a sound packet; nil of a report.
        var header: RTPHeader?
    }

    /// What came, in order.
    private(set) var arrivals: [Arrival] = []
    /// The sequence numbers of the sound that was sent, in order.
    private(set) var sent: [UInt16] = []

    /// The sound that came.
    var sound: [Arrival] { arrivals.filter { $0.header != nil } }

    private final class End {
        let core: EngineCore
        let device: SimulatedDevice<ConversationAir>
        /// What is on its way to this end.
        var coming: [(due: MonotonicTime, datagram: [UInt8])] = []

        init(_ talker: SpeechSource) throws {
            let air = ConversationAir(
                acoustics: try RoomAcoustics(RoomConditions(), seed: 1), talker: talker, longestRecording: 0)
            device = try SimulatedDevice(
                air: air, configuration: SimulatedDeviceConfiguration(pacing: .virtual(start: OwnCall.start)))
            var configuration = EngineConfiguration.voiceChat
            configuration.device = .custom(device)
            configuration.backend = .bypass
            configuration.processing = .bypass
            core = try EngineCore(configuration, keepsDeadlines: true, eventWake: nil) { _ in }
        }
    }

    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)
    private static let way = Duration.milliseconds(20)
    private static let talkerSource: UInt32 = 0x1234_5678
    private static let listenerSource: UInt32 = 0x9ABC_DEF0

    /// Lets a call pass of which `isLost` says, by their number from 0, which packets of sound do not come.
    init(_ duration: Duration, isLost: (Int) -> Bool) throws {
        let speech = SpeechSource(SyntheticSpeech(seed: 1))
        let (talker, listener) = (try End(speech), try End(SpeechSource([], repetition: .once)))
        // Near the end of the numbers, which then begin anew.
        try talker.core.send(
            .publish(
                RTPStreamStart(
                    synchronizationSource: Self.talkerSource, sequenceNumber: 65_400, timestamp: 0xFFFF_0000,
                    mayRepeat: true)))
        try listener.core.send(
            .report(as: RTPStreamStart(synchronizationSource: Self.listenerSource, sequenceNumber: 0, timestamp: 0)))
        try listener.core.send(.addStream(synchronizationSource: Self.talkerSource))
        var now = Self.start
        while now.sinceEpoch - Self.start.sinceEpoch < duration {
            now.nanoseconds += 1_000_000
            for end in [talker, listener] {
                Self.deliver(to: end, now: now)
                _ = end.device.advance(to: now)
                end.core.run(now: now)
            }
            for datagram in Self.take(from: talker) { pass(datagram, to: listener, now: now, isLost) }
            for datagram in Self.take(from: listener) { talker.coming.append((Self.due(now), datagram)) }
        }
    }

    private mutating func pass(_ datagram: [UInt8], to listener: End, now: MonotonicTime, _ isLost: (Int) -> Bool) {
        var header: RTPHeader?
        if DatagramKind(of: datagram.span) == .rtp { header = try? RTPPacket(parsing: datagram.span).header }
        if let header {
            sent.append(header.sequenceNumber)
            guard !isLost(sent.count - 1) else { return }
        }
        let due = Self.due(now)
        listener.coming.append((due, datagram))
        let time = due.sinceEpoch - Self.start.sinceEpoch
        arrivals.append(Arrival(time: time, datagram: datagram, header: header))
    }

    private static func due(_ now: MonotonicTime) -> MonotonicTime {
        MonotonicTime(nanoseconds: now.nanoseconds + Int64(way / .nanoseconds(1)))
    }

    private static func deliver(to end: End, now: MonotonicTime) {
        while let first = end.coming.first, first.due <= now {
            _ = end.core.link.received.push(first.datagram.span, tag: PacketTag(time: first.due))
            end.coming.removeFirst()
        }
    }

    private static func take(from end: End) -> [[UInt8]] {
        var taken: [[UInt8]] = []
        while end.core.link.sending.available > 0 {
            taken.append(unsafe Array(end.core.link.sending.buffer()))
            end.core.link.sending.release()
        }
        return taken
    }
}
