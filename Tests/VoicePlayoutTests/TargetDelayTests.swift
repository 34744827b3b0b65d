import TestCases
import Testing
import VoiceWire

@testable import VoicePlayout

@Suite("Target delay")
struct TargetDelayTests {
    @Test(
        "It is bounded from the first packet on, whatever its timestamp",
        arguments: [UInt32.min, 11_581, 4_294_900_000])
    func firstPacket(timestamp: UInt32) {
        // Given a buffer that has pulled before anything came
        var buffer = PlayoutBuffer(.conversation)
        var decoder = ToneDecoder()
        var silence = [Float](repeating: 0, count: 155)
        Self.pull(&silence, from: &buffer, &decoder, at: .seconds(1))
        #expect(buffer.targetDelay == .zero)
        // When one packet comes, and a single frame is pulled
        let header = RTPHeader(
            payloadType: 111, sequenceNumber: 65_530, timestamp: timestamp, synchronizationSource: 2)
        let payload: [UInt8] = [0]
        _ = buffer.insert(payload.span, header: header, now: .seconds(1) + .microseconds(1_500))
        #expect(buffer.targetDelay == .zero)
        var frame: [Float] = [0]
        Self.pull(&frame, from: &buffer, &decoder, at: .seconds(1) + .microseconds(1_500))
        // Then the target is a delay of this stream, not a time of day
        #expect(buffer.targetDelay <= .milliseconds(100))
    }

    private static func pull(
        _ samples: inout [Float], from buffer: inout PlayoutBuffer, _ decoder: inout ToneDecoder, at now: Duration
    ) {
        var span = samples.mutableSpan
        _ = buffer.pull(into: &span, now: now, decoder: &decoder)
    }
}

@Suite("Contradictory packets")
struct ContradictoryPacketTests {
    @Test("A pull ends although timestamps contradict sequence numbers", .timeLimit(.minutes(10)))
    func pauseThatWouldNotEnd() {
        // Given packets whose timestamps fall while their sequence numbers rise, of two streams
        var buffer = PlayoutBuffer(.conversation)
        var decoder = ToneDecoder()
        let packets: [(sequence: UInt16, timestamp: UInt32, source: UInt32, toc: UInt8, milliseconds: Int)] = [
            (65_532, 4_294_899_999, 1, 0x10, 1_011), (65_520, 4_294_899_999, 2, 0x00, 1_018),
            (65_512, 4_294_898_199, 2, 0xF8, 1_025),
        ]
        for packet in packets {
            let header = RTPHeader(
                payloadType: 111, sequenceNumber: packet.sequence, timestamp: packet.timestamp,
                synchronizationSource: packet.source)
            let payload: [UInt8] = [packet.toc]
            _ = buffer.insert(payload.span, header: header, now: .milliseconds(packet.milliseconds))
        }
        // When sound is pulled for a while, then every pull ends, and every frame is accounted for
        var sound = [Float](repeating: 0, count: 933)
        for pull in 1...20 {
            var span = sound.mutableSpan
            _ = buffer.pull(into: &span, now: .milliseconds(1_025 + 31 * pull), decoder: &decoder)
        }
        #expect(buffer.statistics.pulledSamples == 20 * 933)
    }
}

@Suite("Evidence that is gone")
struct OutdatedEvidenceTests {
    /// A clean link of 30 s with `change` made to the packets sent between two times, in order.
    private func trace(from start: Double, to end: Double, _ change: (inout Arriving) -> Void) -> Trace {
        var trace = Trace(seconds: 30, network: Network(jitterMilliseconds: 0.2), seed: 1)
        var last = 0.0
        for index in trace.packets.indices {
            if trace.packets[index].milliseconds >= start, trace.packets[index].milliseconds < end {
                change(&trace.packets[index])
            }
            last = max(last, trace.packets[index].milliseconds)
            trace.packets[index].milliseconds = last
        }
        return trace
    }

    /// Mean delay between two times of a listening, ms.
    private func delay(_ listening: inout Listening, _ trace: Trace, from start: Double, to end: Double) -> Double {
        listening.play(trace, until: start, keepsSound: false)
        let before = listening.buffer.statistics
        listening.play(trace, until: end, keepsSound: false)
        return PullGranularityTests.meanDelay(from: before, to: listening.buffer.statistics)
    }

    @Test("Heavy jitter that has ended is forgotten within four seconds", arguments: cases(1...4))
    func jitterEnds(seed: UInt64) {
        // Given a clean link with three seconds of heavy jitter
        var random = SeededNumbers(seed: seed)
        let trace = trace(from: 10_000, to: 13_000) { $0.milliseconds += random.exponential(mean: 25) }
        var listening = Listening(context: "seed \(seed)")
        let before = delay(&listening, trace, from: 5000, to: 10_000)
        let during = delay(&listening, trace, from: 12_000, to: 13_000)
        // When four seconds have passed, then the delay is what it was
        let after = delay(&listening, trace, from: 17_000, to: 18_000)
        #expect(during > before + 20, "\(during) ms, seed \(seed)")
        #expect(
            after < before + 5,
            "\(before), then \(during), then \(after) ms, seed \(seed)")
    }

    @Test("A step of 80 ms is released within two seconds")
    func stepEnds() {
        // Given a route that is 80 ms longer for a while
        let trace = trace(from: 10_000, to: 16_000) { $0.milliseconds += 80 }
        var listening = Listening()
        let before = delay(&listening, trace, from: 8000, to: 10_000)
        let during = delay(&listening, trace, from: 14_000, to: 16_000)
        let after = delay(&listening, trace, from: 18_000, to: 19_000)
        // Then neither on it nor after it more waits than before
        #expect(during < before + 12, "\(before), then \(during) ms")
        #expect(after < before + 5, "\(before), then \(after) ms")
    }

    @Test("A storm of half a second is forgotten within six seconds", arguments: cases(1...10), [false, true])
    func stormEnds(seed: UInt64, keepsOrder: Bool) {
        // Given a clean link on which every packet of half a second is late by 0 to 200 ms, through a queue or past
        // each other
        var random = SeededNumbers(seed: seed)
        var trace = Trace(seconds: 10, network: Network(jitterMilliseconds: 0.2), seed: seed)
        for index in trace.packets.indices where (3000..<3500).contains(trace.packets[index].milliseconds) {
            let gaussian = (0..<12).reduce(-6.0) { sum, _ in sum + random.uniform() }
            trace.packets[index].milliseconds += max(0, 40 + 40 * gaussian)
        }
        var last = 0.0
        for index in trace.packets.indices where keepsOrder {
            last = max(last, trace.packets[index].milliseconds)
            trace.packets[index].milliseconds = last
        }
        trace.packets.sort { $0.milliseconds < $1.milliseconds }
        var listening = Listening(context: "seed \(seed)")
        listening.play(trace, until: 4000, keepsSound: false)
        #expect(listening.buffer.targetDelay > .milliseconds(20), "seed \(seed)")
        // When six seconds have passed, then the target is what it was
        listening.play(trace, until: 9500, keepsSound: false)
        #expect(listening.buffer.targetDelay < .milliseconds(15), "seed \(seed), in order: \(keepsOrder)")
    }

    @Test("Stalls every two seconds are still expected after three without one")
    func rareSpikes() {
        // Given a stall of 60 ms every two seconds
        let trace = trace(from: 0, to: 20_000) { packet in
            let since = packet.milliseconds.truncatingRemainder(dividingBy: 2000)
            if since < 60 { packet.milliseconds += 60 - since }
        }
        var listening = Listening()
        listening.play(trace, until: 20_000, keepsSound: false)
        let before = listening.buffer.targetDelay
        listening.play(trace, until: 23_000, keepsSound: false)
        // Then two packets of the three in a stall would still be in time
        #expect(before > .milliseconds(40))
        #expect(listening.buffer.targetDelay > .milliseconds(25))
    }

    @Test("Clusters of stalls that recur are still expected after eight seconds without one")
    func recurringClusters() {
        // Given four stalls of 60 ms within half a second, every five seconds
        let trace = trace(from: 0, to: 16_000) { packet in
            let since = packet.milliseconds.truncatingRemainder(dividingBy: 5000)
            let stall = since.truncatingRemainder(dividingBy: 120)
            if since < 480, stall < 60 { packet.milliseconds += 60 - stall }
        }
        var listening = Listening()
        listening.play(trace, until: 16_000, keepsSound: false)
        let before = listening.buffer.targetDelay
        listening.play(trace, until: 24_000, keepsSound: false)
        // Then the target has not moved down by much
        #expect(before > .milliseconds(40))
        #expect(listening.buffer.targetDelay > before - .milliseconds(25))
    }

    @Test("A target that would gain next to nothing by rising stays, and less is stretched for it")
    func idleRises() {
        // Given a network on which a wide range of delays costs nearly the same: one packet in twelve is held, and each
        // has a copy
        var network = Network(jitterMilliseconds: 0.3)
        network.reorderRatio = 0.08
        var eager = PlayoutConfiguration.conversation
        eager.cost.rise = 0
        var inserted: (usual: UInt64, eager: UInt64) = (0, 0)
        for seed in 1...3 as ClosedRange<UInt64> {
            let trace = Trace(seconds: 25, redundant: true, network: network, seed: seed)
            var one = Listening(context: "seed \(seed)")
            var other = Listening(eager)
            one.play(trace, until: 25_000, keepsSound: false) { 240 }
            other.play(trace, until: 25_000, keepsSound: false) { 240 }
            one.expectAccounts()
            inserted.usual += one.buffer.statistics.insertedSamplesForDeceleration
            inserted.eager += other.buffer.statistics.insertedSamplesForDeceleration
        }
        // Then it rises less often than one that follows every gain
        #expect(Double(inserted.usual) < 0.9 * Double(inserted.eager), "\(inserted)")
    }

    @Test("On a good network with rare short stalls, low delay conceals what conversation waits for")
    func lowDelay() {
        // Given a stall of 12 ms every two seconds, on an even network
        let trace = trace(from: 0, to: 20_000) { packet in
            let since = packet.milliseconds.truncatingRemainder(dividingBy: 2000)
            if since < 12 { packet.milliseconds += 12 - since }
        }
        var conversation = Listening()
        var lowDelay = Listening(.lowDelay)
        // And pulls of 1 ms, which the target is a multiple of
        conversation.play(trace, until: 20_000, keepsSound: false) { 48 }
        lowDelay.play(trace, until: 20_000, keepsSound: false) { 48 }
        // Then conversation has it all in time, and low delay is that much shorter
        #expect(conversation.buffer.targetDelay >= .milliseconds(8))
        #expect(lowDelay.buffer.targetDelay <= .milliseconds(3))
        #expect(conversation.buffer.statistics.concealedSamples < lowDelay.buffer.statistics.concealedSamples)
    }
}
