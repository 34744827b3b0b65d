import SimulatedCalls
import Synchronization
import Testing
import VoiceEngine
import VoiceRealtime
import VoiceSimulation

/// A talking card that can be pulled out and plugged in, in real time.
final class PluggableCard: AudioDevice {
    private struct State: ~Copyable {
        var isPlugged = true
        var session: SimulatedDevice<ConversationAir>?
        var events: (@Sendable (DeviceEvent) -> Void)?
        var openings = 0
    }

    private let state = Mutex(State())

    /// How often it was opened.
    var openings: Int { state.withLock { $0.openings } }

    func start(
        capture: consuming CapturePort, playback: consuming PlaybackPort,
        events: @escaping @Sendable (DeviceEvent) -> Void
    ) throws(DeviceError) -> DeviceFormats {
        guard state.withLock({ $0.isPlugged }) else { throw .notFound(name: "card", available: []) }
        let card: SimulatedDevice<ConversationAir>
        do { card = try talkingCard() } catch { throw .io(message: "\(error)") }
        let formats = try card.start(capture: capture, playback: playback, events: events)
        state.withLock { state in
            state.session = card
            state.events = events
            state.openings += 1
        }
        return formats
    }

    func stop() {
        let session = state.withLock { state in
            defer { (state.session, state.events) = (nil, nil) }
            return state.session
        }
        session?.stop()
    }

    /// Pulls it out: both directions end, as the threads of a card tell.
    func unplug() {
        let events = state.withLock { state in
            state.isPlugged = false
            return state.events
        }
        events?(.disconnected(.capture))
        events?(.disconnected(.playback))
    }

    func plug() { state.withLock { $0.isPlugged = true } }
}

extension EngineEvent {
    /// What was lost, where something was.
    fileprivate var loss: DeviceLoss? { if case .deviceLost(let loss) = self { loss } else { nil } }

    /// The way that the sound takes now, where it has changed.
    fileprivate var route: AudioRoute? { if case .routeChanged(let route, _) = self { route } else { nil } }
}

extension EngineLiveTests {
    @Suite("loses its device", .serialized)
    struct HotPlug {
        private func engine(_ card: PluggableCard) -> VoiceEngine {
            var configuration = modestConfiguration(device: card)
            configuration.routePolicy = .pinned
            return VoiceEngine(configuration)
        }

        @Test("and stays in the room, where it is heard again when the device is back")
        func inARoom() async throws {
            let room = try LoopbackRoom()
            defer { room.close() }
            let card = PluggableCard()
            let (engine, listener) = (engine(card), try modestEngine())
            let (events, others) = (engine.events, listener.events)
            try await engine.start()
            try await listener.start()
            try await listener.join(room.endpoint("listener"))
            try await engine.join(room.endpoint("talker"))
            #expect(await others.wait { $0.arrival?.identity == "talker" })
            func heard() async throws -> Int { try await listener.statistics().streams.first?.bytesReceived ?? 0 }
            #expect(try await eventually { try await heard() > 2_000 })
            // When the card is pulled out
            card.unplug()
            let loss = try #require(await events.first { $0.loss })
            #expect(loss.directions == [.capture, .playback])
            #expect(loss.policy == .pinned)
            // Then its silence goes on reaching the room
            let atLoss = try await heard()
            let captured = try await engine.statistics().device.capture.frames
            #expect(try await eventually { try await engine.statistics().device.capture.frames > captured + 9_600 })
            #expect(try await eventually { try await heard() > atLoss })
            #expect(await engine.route?.capture?.name == "custom")
            #expect(await engine.route?.capture?.format == nil)
            // And when it is plugged in, its sound does
            card.plug()
            let route = try #require(await events.first { $0.route })
            #expect(route.playback?.format?.active.periodFrames == 480)
            #expect(try await eventually { try await engine.statistics().uplink.inputLevel > -60 })
            #expect(room.server.statistics.participants == 2)
            await engine.stop()
            await listener.stop()
        }

        @Test("again and again, and a stop comes at any moment of it", arguments: 1...4 as ClosedRange<UInt64>)
        func stops(seed: UInt64) async throws {
            var generator = SeededGenerator(seed: seed)
            let card = PluggableCard()
            let engine = engine(card)
            for _ in 0..<5 {
                card.plug()
                try await engine.start()
                for _ in 0..<Int(generator.uniform(in: 1...4)) {
                    card.unplug()
                    for _ in 0..<Int(generator.uniform(in: 0...2_000)) { await Task.yield() }
                    card.plug()
                    for _ in 0..<Int(generator.uniform(in: 0...2_000)) { await Task.yield() }
                }
                await engine.stop()
                #expect(await engine.route == nil)
            }
            // Then it works as ever
            try await engine.start()
            #expect(try await eventually { try await engine.statistics().device.capture.frames > 4_800 })
            await engine.stop()
        }

        @Test("and is let go without a stop, and no thread stays behind")
        func letGo() async throws {
            let card = PluggableCard()
            do {
                let engine = engine(card)
                let events = engine.events
                try await engine.start()
                card.unplug()
                #expect(await events.first { $0.loss } != nil)
                _ = try await engine.statistics()
            }
            #expect(try await eventually { Self.ownThreads().isEmpty }, "\(Self.ownThreads())")
        }

        private static func ownThreads() -> [String] {
            threadNames().filter { $0.hasPrefix("voice-") || $0 == "simulated-card" }
        }
    }
}
