import Synchronization
import VoiceRealtime
import VoiceSimulation
import VoiceWire

@testable import VoiceEngine

/// An engine's core on the cards of a bench, in virtual time, whose packets come back to it as those of one other
/// talker.
final class RouteRig {
    static let talker: UInt32 = 100
    static let step = Duration.milliseconds(1)

    let bench: CardBench
    let core: EngineCore
    private(set) var routeEvents: [RouteEvent] = []
    private(set) var deviceEvents = EventTray<DeviceEvent>()
    private(set) var packetsSent = 0
    /// Frames that the playout ring gave out while a card was plugged in.
    private var waiting: [(due: MonotonicTime, packet: [UInt8])] = []
    /// One way through the network.
    var networkDelay = Duration.milliseconds(20)

    init(
        _ cards: [String: CardBench.Card], _ device: DeviceChoice, policy: RoutePolicy? = nil,
        isServed: Bool = false, change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws {
        bench = CardBench(cards, default: "onboard", start: MonotonicTime(nanoseconds: 1_000_000_000))
        bench.isServed = isServed
        var configuration = EngineConfiguration.voiceChat
        configuration.device = device
        configuration.routePolicy = policy
        configuration.backend = .bypass
        change(&configuration)
        let tray = deviceEvents
        core = try EngineCore(configuration, environment: bench.environment, eventWake: nil) { tray.put($0) }
        try core.send(.publish(RTPStreamStart(synchronizationSource: 1, sequenceNumber: 0, timestamp: 0)))
        try core.send(.addStream(synchronizationSource: Self.talker))
    }

    /// Lets time pass.
    func run(_ duration: Duration) {
        let end = bench.now.sinceEpoch + duration
        while bench.now.sinceEpoch < end {
            let now = bench.now.advanced(byFrames: 48, sampleRate: 48_000)
            bench.advance(to: now)
            _ = core.attendToDevices(now: now.sinceEpoch) { routeEvents.append($0) }
            core.run(now: now)
            carry(now)
        }
    }

    private func carry(_ now: MonotonicTime) {
        while core.link.sending.available > 0 {
            var packet = unsafe Array(core.link.sending.buffer())
            core.link.sending.release()
            // Reports are the room's to forward, not to return.
            guard DatagramKind(of: packet.span) == .rtp else { continue }
            packetsSent += 1
            // The synchronization source of RFC 3550, section 5.1
            for byte in 0..<4 { packet[8 + byte] = UInt8(truncatingIfNeeded: Self.talker >> (24 - 8 * UInt32(byte))) }
            let delay = networkDelay.components.attoseconds / 1_000_000_000
            waiting.append((MonotonicTime(nanoseconds: now.nanoseconds + delay), packet))
        }
        while let first = waiting.first, first.due <= now {
            _ = core.link.received.push(first.packet.span, tag: PacketTag(time: now))
            waiting.removeFirst()
        }
    }

    /// Goes over to other devices.
    func select(capture: String? = nil, playback: String? = nil) throws(DeviceError) {
        try core.selectDevices(
            DeviceSelection(capture: capture, playback: playback), now: bench.now.sinceEpoch
        ) { routeEvents.append($0) }
    }

    func takeRouteEvents() -> [RouteEvent] {
        defer { routeEvents = [] }
        return routeEvents
    }

    func takeEngineEvents() -> [EngineEvent] {
        var events: [EngineEvent] = []
        while let event = core.nextEvent() { if let event = EngineEvent(event) { events.append(event) } }
        return events
    }

    var statistics: EngineStatistics {
        EngineStatistics(core.statistics(), device: core.counters.counts, roundTrip: nil, room: nil)
    }

    /// From a packet's arrival to its playout, over what is played from now on for so long, in milliseconds; nil where
    /// nothing is.
    func playoutDelay(over duration: Duration) -> Double? {
        let before = playout
        run(duration)
        guard let now = statistics.streams.first?.playout else { return nil }
        let count = now.jitterBufferEmittedCount - before.jitterBufferEmittedCount
        return count > 0 ? (now.jitterBufferDelay - before.jitterBufferDelay) / Double(count) * 1_000 : nil
    }

    /// Whether the microphone hears its talker, who pauses for less than 2 s.
    func hearsTalker() -> Bool {
        for _ in 0..<20 {
            if statistics.uplink.inputLevel > -60 { return true }
            run(.milliseconds(100))
        }
        return false
    }

    var playout: PlayoutStatistics { statistics.streams.first?.playout ?? PlayoutStatistics() }
}

/// Events of any thread.
final class EventTray<Event: Sendable>: Sendable {
    private let all = Mutex<[Event]>([])

    func put(_ event: Event) { all.withLock { $0.append(event) } }
}
