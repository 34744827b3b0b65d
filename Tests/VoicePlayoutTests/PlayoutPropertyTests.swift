import TestCases
import Testing
import VoicePlayout
import VoiceWire

struct PlayoutPropertyTests {
    @Test(
        "Whatever the network does, all samples are accounted for and the delay stays bounded", arguments: cases(1...40)
    )
    func randomNetworks(seed: UInt64) {
        // Given a random network, packet duration and pace of pulls
        var random = SeededNumbers(seed: seed)
        let network = Network.random(&random)
        let frames = TonePacket.configurations.randomElement(using: &random)?.frames ?? 960
        let blocks =
            [[120], [240], [480], [441], [960], [1, 7, 960], Array(1...960)].randomElement(using: &random) ?? [480]
        let redundant = Bool.random(using: &random)
        let context = "seed \(seed): \(network), packets of \(frames), blocks of \(blocks.prefix(3)), FEC \(redundant)"
        let trace = Trace(seconds: 12, frames: frames, redundant: redundant, network: network, seed: seed)
        var listening = Listening(context: context)
        // When it is played out
        listening.play(trace, until: 13_000, keepsSound: false) { blocks.randomElement(using: &random) ?? 480 }
        // Then nothing is unaccounted for, and never more waits than target, stall and what is skipped beyond it
        listening.expectAccounts()
        let longest = listening.reports.map(\.report.bufferedFrames).max() ?? 0
        #expect(longest < 48 * 1000, "\(longest) frames waiting, \(context)")
        #expect(listening.buffer.statistics.decodedSamples > 48_000 * 6, "\(context)")
        #expect(listening.buffer.targetDelay <= .milliseconds(500), "\(context)")
    }

    @Test(
        "Utterances sent ahead and interrupted anywhere are accounted for, in order and within bounds",
        arguments: cases(1...15))
    func randomInterruptions(seed: UInt64) {
        // Given utterances that a synthesiser sends up to 50 times faster than they are spoken, over a random network
        var random = SeededNumbers(seed: seed)
        let network = Network.random(&random)
        let speed: Double = [1, 1.5, 4, 50].randomElement(using: &random) ?? 1
        let pauses = (0..<4).map { (from: Double($0) * 3000 + 2500, length: 500.0) }
        var trace = Trace(
            seconds: 12, redundant: Bool.random(using: &random), network: network, seed: seed, pauses: pauses)
        for index in trace.packets.indices {
            let start = (trace.packets[index].milliseconds / 3000).rounded(.down) * 3000
            trace.packets[index].milliseconds = start + (trace.packets[index].milliseconds - start) / speed
        }
        let context = "seed \(seed): \(network), \(speed) times as fast"
        var configuration = PlayoutConfiguration.conversation
        configuration.packetCapacity = 200
        var listening = Listening(configuration, context: context)
        // When they are played, and interrupted now and then, by generations that come twice and out of turn
        var (generation, played, last) = (UInt32(0), 0, Int64.min)
        while Double(played) < 13_000 * 48 {
            let length = Double.random(in: 100...2000, using: &random)
            listening.play(trace, until: Double(played) / 48 + length, keepsSound: false) { 240 }
            // Then the position of every frame is known and never goes back
            let end = listening.pulledFrames
            for frame in stride(from: played, to: end, by: 16) where end - frame < 48_000 {
                guard let position = listening.buffer.position(ofPulledFrame: Int64(frame)) else { continue }
                #expect(position >= last, "frame \(frame), \(context)")
                last = position
            }
            played = end
            if Bool.random(using: &random) {
                generation &+= UInt32(Int.random(in: 0...2, using: &random))
                listening.buffer.flush(generation: generation)
                let isRepeatRefused = !listening.buffer.flush(generation: generation)
                #expect(isRepeatRefused, "\(context)")
            }
            #expect(listening.buffer.bufferedFrames <= 200 * 960 + 8192, "\(context)")
        }
        // And all is accounted for, some of it heard
        listening.expectAccounts()
        #expect(last > .min && listening.buffer.statistics.decodedSamples > 48_000, "\(context)")
    }

    @Test(
        "Drifting clocks alone never cost a sample",
        arguments: cases([(-300.0, 200.0), (-100, 600), (100, 600), (300, 200)]))
    func drift(ppm: Double, seconds: Double) {
        // Given a clean link between clocks 100 ppm apart for ten minutes, or 300 for less
        var network = Network.clean
        network.skewPPM = ppm
        let trace = Trace(seconds: seconds, network: network, seed: 1)
        var listening = Listening(context: "\(ppm) ppm")
        // When it is played out
        listening.play(trace, until: seconds * 1000 - 300, keepsSound: false)
        // Then nothing was made up, the clocks were followed by stretching, and the delay stayed small
        listening.expectAccounts()
        let statistics = listening.buffer.statistics
        #expect(statistics.concealedSamples == 0)
        #expect(statistics.packetsDiscarded == 0 && statistics.packetsLost == 0)
        let stretched =
            Double(statistics.insertedSamplesForDeceleration) - Double(statistics.removedSamplesForAcceleration)
        #expect(abs(stretched / 48 - ppm * seconds / 1000) < 40, "stretched by \(stretched / 48) ms")
        let delay = statistics.jitterBufferDelay / Double(statistics.jitterBufferEmittedCount)
        #expect(delay < 0.025, "\(delay * 1000) ms")
    }

    @Test("Wild headers and payloads neither crash nor fill memory", arguments: cases(1...10))
    func hostile(seed: UInt64) {
        // Given a buffer of 16 packets and a sender that knows no rule
        var random = SeededNumbers(seed: seed)
        var configuration = PlayoutConfiguration.conversation
        configuration.packetCapacity = 16
        var listening = Listening(configuration, context: "seed \(seed)")
        let trace = Trace(seconds: 20, network: .clean, seed: seed)
        var now = 0.0
        for packet in trace.packets {
            // When every field may be anything, between packets that are right
            var header = packet.header
            switch random.next() % 8 {
            case 0: header.sequenceNumber = UInt16.random(in: 0 ... .max, using: &random)
            case 1: header.timestamp = UInt32.random(in: 0 ... .max, using: &random)
            case 2: header.synchronizationSource = UInt32.random(in: 0...3, using: &random)
            default: break
            }
            var payload = packet.payload
            if random.next() % 8 == 0 {
                payload = (0..<Int.random(in: 0...1600, using: &random)).map { _ in
                    UInt8(truncatingIfNeeded: random.next())
                }
            }
            _ = listening.buffer.insert(payload.span, header: header, now: .nanoseconds(Int64(now * 1e6)))
            if random.next() % 10 == 0 { listening.buffer.flush(generation: UInt32(truncatingIfNeeded: random.next())) }
            now += [0, 20, 20, 20, 500].randomElement(using: &random) ?? 20
            for _ in 0..<2 { listening.pull(480, at: now, keepsSound: false, timestampsMayJump: true) }
            // Then nothing breaks
            #expect(listening.buffer.waitingPackets <= 16, "seed \(seed)")
        }
        listening.expectAccounts()
    }

    @Test("The same trace plays the same, to the bit")
    func determinism() {
        var random = SeededNumbers(seed: 7)
        let trace = Trace(seconds: 5, redundant: true, network: .random(&random), seed: 7)
        var first = Listening()
        var second = Listening()
        first.play(trace, until: 5000)
        second.play(trace, until: 5000)
        // Not compared within the expectation, which would print both.
        let isSame = first.sound == second.sound
        #expect(isSame)
        #expect(first.buffer.statistics == second.buffer.statistics)
    }
}
