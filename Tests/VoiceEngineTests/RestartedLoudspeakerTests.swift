import Testing
import VoiceDevices
import VoiceRealtime
import VoiceWire

@testable import VoiceEngine

@Suite("A loudspeaker that is started anew")
struct RestartedLoudspeakerTests {
    @Test("makes the delay no longer, also where its silence is in the reference")
    func delay() throws {
        // Given a talker on a calm network
        let card = SteppedCard()
        let core = try EngineCore(modestConfiguration(device: card), eventWake: nil) { _ in }
        try core.send(.addStream(synchronizationSource: 10))
        var packets = try TonePackets(source: 10)
        var now = MonotonicTime(nanoseconds: 10_000_000_000)
        var passed = 0
        func pass(periods: Int, isStanding: Bool = false) throws {
            for _ in 0..<periods {
                if passed % 4 == 0 {
                    let packet = try packets.next()
                    _ = core.link.received.push(packet.span, tag: PacketTag(time: now))
                }
                passed += 1
                card.hear(at: now)
                if !isStanding { card.play(at: now.advanced(byFrames: 480, sampleRate: 48_000)) }
                _ = core.run(now: now)
                now = now.advanced(byFrames: SteppedCard.period, sampleRate: 48_000)
            }
        }
        var target: Duration? {
            EngineStatistics(core.statistics(), device: core.counters.counts, roundTrip: nil, room: nil)
                .streams.first?.targetDelay
        }
        try pass(periods: 1_000)
        let calm = try #require(target)
        // When the loudspeaker stands still for 20 ms each second
        for _ in 0..<10 {
            try pass(periods: 4, isStanding: true)
            card.stoodStill(960, from: now.advanced(byFrames: 480 - 960, sampleRate: 48_000))
            try pass(periods: 196)
        }
        // Then nothing was the network's fault
        let shaken = try #require(target)
        #expect(shaken < calm + .milliseconds(2), "\(calm), \(shaken)")
        #expect(core.counters.counts.playback.gapFrames == 9_600)
    }
}
