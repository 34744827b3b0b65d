import TestCases
import Testing
import VoicePlayout
import VoiceWire

struct PlayoutScenarioTests {
    /// Largest step of the tone itself: amplitude times 2 pi over the period.
    private let toneStep: Float = ToneDecoder.amplitude * 2 * .pi / Float(ToneDecoder.period)

    @Test(
        "A clean link is played as it was sent, soon, in blocks of any length", arguments: [1, 120, 240, 441, 480, 960])
    func clean(block: Int) {
        // Given a clean link
        let trace = Trace(seconds: 3, network: .clean, seed: 1)
        var listening = Listening(context: "blocks of \(block)")
        // When it is pulled in blocks of one length
        listening.play(trace, until: 3000) { block }
        // Then the tone has no seam, nothing is made up, and little waits
        listening.expectAccounts()
        let statistics = listening.buffer.statistics
        #expect(statistics.concealedSamples == 0 && statistics.packetsLost == 0)
        #expect(listening.largestStep(from: 500) < toneStep * 1.3)
        let delay = statistics.jitterBufferDelay / Double(statistics.jitterBufferEmittedCount)
        #expect(delay < 0.025 + Double(block) / 48_000, "\(delay * 1000) ms")
    }

    @Test("Sequence numbers and timestamps wrap unnoticed")
    func wrap() {
        // Given a stream that begins just before both wrap
        let trace = Trace(seconds: 20, network: .clean, seed: 1, firstSequence: 65_500, firstTimestamp: .max - 9000)
        var listening = Listening()
        listening.play(trace, until: 20_000)
        // Then nothing happens, and the reported timestamps run on
        #expect(listening.buffer.statistics.concealedSamples == 0)
        #expect(listening.buffer.statistics.streamRestarts == 0)
        #expect(listening.reports.last?.report.firstTimestamp ?? 0 > Int64(UInt32.max))
    }

    @Test("The reported timestamp is that of the sample played")
    func timestamps() {
        let trace = Trace(seconds: 3, network: Network(jitterMilliseconds: 10), seed: 3)
        var listening = Listening()
        listening.play(trace, until: 3000)
        // Given reports while nothing was made up or paused, the tone's phase tells the truth
        var checked = 0
        for (index, entry) in listening.reports.enumerated() where index > 50 {
            guard entry.report.concealedFrames + entry.report.pauseFrames == 0,
                let timestamp = entry.report.firstTimestamp
            else { continue }
            let played = listening.sound[index * 480]
            let expected = (-96...96).map { ToneDecoder.sample(timestamp + $0) }
            let (low, high) = ((expected.min() ?? 0) - 0.01, (expected.max() ?? 0) + 0.01)
            #expect(played >= low && played <= high, "block \(index)")
            checked += 1
        }
        #expect(checked > 100)
    }

    @Test("Lost packets are restored from redundancy, and only the rest is made up")
    func redundancy() {
        // Given single losses, with redundancy in every packet
        var network = Network.clean
        (network.lossRatio, network.meanBurst) = (0.05, 1)
        let trace = Trace(seconds: 30, redundant: true, network: network, seed: 5)
        var listening = Listening()
        listening.play(trace, until: 30_000)
        listening.expectAccounts()
        let statistics = listening.buffer.statistics
        // Then, once the delay has grown for it, nearly all losses are restored
        #expect(statistics.packetsLost > 40)
        #expect(listening.decoder.restoredPackets > Int(statistics.packetsLost) * 7 / 10)
        // And without leave to use it, none is
        var configuration = PlayoutConfiguration.conversation
        configuration.usesRedundancy = false
        var without = Listening(configuration)
        without.play(trace, until: 30_000)
        #expect(without.decoder.restoredPackets == 0)
        #expect(without.buffer.statistics.concealedSamples > 2 * statistics.concealedSamples)
    }

    @Test("A pause of the sender is no loss", arguments: [60.0, 400, 3000])
    func pause(length: Double) {
        // Given a sender that pauses: consecutive sequence numbers, a gap in timestamps
        let trace = Trace(seconds: 8, network: .clean, seed: 1, pauses: [(from: 2000, length: length)])
        var listening = Listening()
        listening.play(trace, until: 8000)
        listening.expectAccounts()
        let statistics = listening.buffer.statistics
        // Then no packet counts as lost, the delay is as before, and what was made up ends with the fade
        #expect(statistics.packetsLost == 0 && statistics.packetsDiscarded == 0)
        #expect(statistics.concealedSamples - statistics.silentConcealedSamples <= 48 * 1010)
        let silence = listening.sound[Int((2000 + length) * 48) - 480..<Int((2000 + length) * 48)]
        #expect(length < 1300 || !silence.contains { $0 != 0 })
        #expect(listening.largestStep(from: 500) < toneStep * 3)
        let delay = statistics.jitterBufferDelay / Double(statistics.jitterBufferEmittedCount)
        #expect(delay < 0.03, "\(delay * 1000) ms")
    }

    @Test("A pause that the sender announces is filled and conceals nothing")
    func announcedPause() {
        // Given a sender whose last packet before a pause is one byte long
        var trace = Trace(seconds: 4, network: .clean, seed: 1, pauses: [(from: 2000, length: 300)])
        trace.packets[99].payload = [9 << 3]
        var listening = Listening()
        listening.play(trace, until: 4000)
        listening.expectAccounts()
        // Then at most the announcing packet itself, which the tone decoder refuses, is made up
        #expect(listening.buffer.statistics.concealedSamples <= 960)
        #expect(listening.buffer.statistics.pauseSamples > 48 * 250)
    }

    @Test("After a stall sound fades out, and recovers cleanly", arguments: [100.0, 400, 2000])
    func stall(length: Double) {
        // Given a link that holds every packet back for a while, then delivers all at once
        var trace = Trace(seconds: 8, network: .clean, seed: 1)
        for index in trace.packets.indices where trace.packets[index].milliseconds >= 3000 {
            trace.packets[index].milliseconds = max(trace.packets[index].milliseconds, 3000 + length)
        }
        var listening = Listening()
        listening.play(trace, until: 8000)
        listening.expectAccounts()
        let statistics = listening.buffer.statistics
        // Then one gap was concealed, it has no hard edge, and one second later all is as before
        #expect(statistics.concealmentEvents <= 3)
        #expect(listening.largestStep(from: 500) < toneStep * 3)
        #expect(Double(statistics.concealedSamples) / 48 < length + 60)
        let late = listening.reports.filter { $0.milliseconds > 3000 + length + 1000 }
        #expect(!late.contains { $0.report.concealedFrames > 0 })
        // And what was kept of it, a second at most, is nearly caught up with
        #expect((late.last?.report.bufferedFrames ?? .max) < 48 * (length < 1000 ? 80 : 300))
        let end = Int(3000 + min(length, 1300)) * 48
        #expect(length < 1300 || !listening.sound[end - 480..<end].contains { $0 != 0 })
    }

    @Test("A longer route costs one gap, and its delay goes when it does", arguments: [-80.0, 80])
    func route(step: Double) {
        var network = Network(jitterMilliseconds: 0.3)
        network.step = step > 0 ? (3000, 9000, step) : (0, 3000, -step)
        let trace = Trace(seconds: 15, network: network, seed: 2)
        var listening = Listening()
        listening.play(trace, until: 15_000)
        listening.expectAccounts()
        #expect(Double(listening.buffer.statistics.concealedSamples) / 48 < 150)
        let before = listening.reports.filter { $0.milliseconds > 14_000 }
        #expect((before.map(\.report.bufferedFrames).max() ?? .max) < 48 * 60)
    }

    @Test(
        "What came late for a longer route is not cut short while packets keep coming as late", arguments: cases(1...8))
    func longerRouteInPause(seed: UInt64) {
        // Given a pause, in which any delay above the target may be cut, and a route that becomes 80 ms longer in it
        var network = Network(jitterMilliseconds: 0.3)
        network.step = (3000, 9000, 80)
        let trace = Trace(seconds: 6, network: network, seed: seed)
        var listening = Listening(context: "seed \(seed)")
        listening.decoder.gain = 0.004
        // When it is played before the target has learnt of the route
        listening.play(trace, until: 3000, keepsSound: false) { 240 }
        let before = listening.buffer.statistics.concealmentEvents
        listening.play(trace, until: 3450, keepsSound: false) { 240 }
        // Then the step cost one gap, at most another where the first packet after it came sooner than the next; no cut
        // made more
        #expect((1...2).contains(listening.buffer.statistics.concealmentEvents - before), "seed \(seed)")
        listening.expectAccounts()
    }

    @Test("Another source or timeline is spliced on", arguments: [0, 1, 2, 3])
    func restart(kind: Int) {
        // Given a stream that goes on as another half way: source, sequence, timestamp forward, timestamp back
        var trace = Trace(seconds: 6, network: .clean, seed: 1, firstSequence: 100, firstTimestamp: 1_000_000)
        for index in 150..<trace.packets.count {
            switch kind {
            case 0:
                trace.packets[index].header.synchronizationSource = 9
                trace.packets[index].header.sequenceNumber &+= 30_000
                trace.packets[index].header.timestamp &+= 123_456_789
            case 1: trace.packets[index].header.sequenceNumber &+= 20_000
            case 2: trace.packets[index].header.timestamp &+= 48_000 * 3600
            default: trace.packets[index].header.timestamp &-= 500_000
            }
        }
        var listening = Listening(context: "kind \(kind)")
        listening.play(trace, until: 6000, timestampsMayJump: true)
        listening.expectAccounts()
        let statistics = listening.buffer.statistics
        // Then it is noticed once, and at most the packet that had to be confirmed is missing
        #expect(statistics.streamRestarts == 1)
        #expect(listening.decoder.resets == 1)
        #expect(statistics.packetsDiscarded <= (kind == 1 ? 1 : 0))
        #expect(statistics.concealedSamples <= 48 * 30)
        #expect(listening.decoder.decodedPackets >= 296)
    }

    @Test("Packets of a source that was replaced are refused for a while")
    func formerSource() {
        let old = Trace(seconds: 1, network: .clean, seed: 1)
        let new = Trace(seconds: 1, network: .clean, seed: 1, firstSequence: 7, source: 2)
        var buffer = PlayoutBuffer()
        for (packet, expected) in [
            (old.packets[0], InsertOutcome.stored), (new.packets[0], .stored), (old.packets[1], .unexpected),
            (new.packets[1], .stored), (new.packets[1], .duplicate),
        ] {
            let outcome = buffer.insert(packet.payload.span, header: packet.header, now: .milliseconds(20))
            #expect(outcome == expected)
        }
    }

    @Test(
        "What is too long or no Opus is refused as malformed",
        arguments: [[], [0x03], [UInt8](repeating: 0, count: 1501)])
    func malformed(payload: [UInt8]) {
        var buffer = PlayoutBuffer()
        let header = RTPHeader(
            payloadType: 111, marker: false, sequenceNumber: 1, timestamp: 1, synchronizationSource: 1)
        #expect(buffer.insert(payload.span, header: header, now: .zero) == .malformed)
        #expect(buffer.statistics.packetsMalformed == 1 && buffer.waitingPackets == 0)
    }

    @Test("Pulls that stop and come back leave no lasting delay")
    func silentDevice() {
        // Given a device that stops for three seconds while packets go on
        let trace = Trace(seconds: 12, network: .clean, seed: 1)
        var listening = Listening()
        listening.play(trace, until: 3000)
        for packet in trace.packets where packet.milliseconds > 2990 && packet.milliseconds < 6000 {
            _ = listening.buffer.insert(packet.payload.span, header: packet.header, now: packet.time)
        }
        // When it comes back
        var next = 0
        for step in 0..<500 {
            let now = 6000 + Double(step) * 10
            while next < trace.packets.count, trace.packets[next].milliseconds <= now {
                let packet = trace.packets[next]
                if packet.milliseconds >= 6000 {
                    _ = listening.buffer.insert(packet.payload.span, header: packet.header, now: packet.time)
                }
                next += 1
            }
            listening.pull(480, at: now)
        }
        // Then the delay is soon what it was
        listening.expectAccounts()
        #expect((listening.reports.last?.report.bufferedFrames ?? .max) < 48 * 60)
    }

    @Test("Pulls that jitter by milliseconds cost nothing on a clean link", arguments: cases(1...4))
    func jitteringPulls(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let trace = Trace(seconds: 20, network: .clean, seed: seed)
        var listening = Listening(context: "seed \(seed)")
        var next = 0
        for step in 0..<1900 {
            let now = Double(step) * 10 + 4 * random.uniform()
            while next < trace.packets.count, trace.packets[next].milliseconds <= now {
                let packet = trace.packets[next]
                _ = listening.buffer.insert(packet.payload.span, header: packet.header, now: packet.time)
                next += 1
            }
            listening.pull(480, at: now, keepsSound: false)
        }
        let late = listening.reports.filter { $0.milliseconds > 3000 && $0.report.concealedFrames > 0 }
        #expect(late.isEmpty, "seed \(seed): \(late.count) blocks")
    }
}
