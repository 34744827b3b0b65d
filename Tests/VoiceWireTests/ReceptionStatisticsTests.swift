import TestCases
import Testing
import VoiceWire

/// Receives packets of 20 ms at 48 kHz, each on its beat, shifted by `delay`.
private struct Receiver {
    var statistics = ReceptionStatistics(synchronizationSource: 7)

    mutating func receive(_ sequence: Int, delay: Duration = .zero) {
        let header = RTPHeader(
            payloadType: 111, sequenceNumber: UInt16(truncatingIfNeeded: sequence),
            timestamp: UInt32(truncatingIfNeeded: sequence * 960), synchronizationSource: 7)
        statistics.receive(header, arrival: .seconds(1_000_000) + .milliseconds(20 * sequence) + delay)
    }

    mutating func block() -> ReportBlock? { statistics.makeReportBlock(now: .zero) }

    mutating func report(now: Duration = .zero) throws -> ReportBlock {
        let block = statistics.makeReportBlock(now: now)
        return try #require(block)
    }
}

@Suite("Reception statistics (RFC 3550 appendices A.1, A.3, A.8)")
struct ReceptionStatisticsTests {
    @Test("nothing received is nothing to report")
    func nothing() {
        var receiver = Receiver()
        #expect(receiver.block() == nil)
        #expect(receiver.statistics.lostCount == 0)
        #expect(receiver.statistics.extendedHighestSequenceNumber == nil)
    }

    @Test("A.3: a quarter lost is 64/256, counted since the report before")
    func fractionLost() throws {
        // Given 0 to 7 without 2 and 5, when reported, then two of eight are lost
        var receiver = Receiver()
        for sequence in [0, 1, 3, 4, 6, 7] { receiver.receive(sequence) }
        let first = try receiver.report()
        #expect(first.fractionLost == 64)
        #expect(first.cumulativeLost == 2)
        #expect(first.extendedHighestSequenceNumber == 7)
        // When the next interval loses nothing, then its fraction is none, and the sum stays
        for sequence in 8...11 { receiver.receive(sequence) }
        let second = try receiver.report()
        #expect(second.fractionLost == 0)
        #expect(second.cumulativeLost == 2)
        // When a late packet comes, then it is counted back in, and a negative fraction is none
        receiver.receive(5)
        let third = try receiver.report()
        #expect(third.fractionLost == 0)
        #expect(third.cumulativeLost == 1)
        // When nothing comes at all, then nothing was expected
        #expect(receiver.block()?.fractionLost == 0)
    }

    @Test("A.3: duplicates make the sum of losses negative")
    func duplicates() {
        var receiver = Receiver()
        for sequence in [0, 1, 1, 1] { receiver.receive(sequence) }
        #expect(receiver.block()?.cumulativeLost == -2)
    }

    @Test("A.3: nearly all lost is 255/256, and does not wrap")
    func nearlyAllLost() {
        var receiver = Receiver()
        receiver.receive(0)
        _ = receiver.block()
        receiver.receive(2999)
        #expect(receiver.block()?.fractionLost == 255)
        #expect(receiver.statistics.lostCount == 2998)
    }

    @Test("A.1: the highest sequence number counts its wraps, whatever the order")
    func wraps() {
        var receiver = Receiver()
        for sequence in [65533, 65535, 65537, 65534, 65536, 65538] { receiver.receive(sequence) }
        #expect(receiver.block()?.extendedHighestSequenceNumber == 0x1_0002)
        #expect(receiver.statistics.lostCount == 0)
    }

    @Test("A.1: one packet from far away is ignored, two in a row are a new beginning", arguments: [3000, -101])
    func restart(jump: Int) {
        var receiver = Receiver()
        for sequence in 20_000..<20_010 { receiver.receive(sequence) }
        let far = 20_009 + jump
        receiver.receive(far)
        #expect(receiver.statistics.receivedCount == 10)
        #expect(receiver.statistics.restartCount == 0)
        // The old sequence goes on in between, so the next one from far away is again the first
        receiver.receive(20_010)
        let farther = far + 10 * jump.signum()
        receiver.receive(farther)
        #expect(receiver.statistics.restartCount == 0)
        receiver.receive(farther + 1)
        #expect(receiver.statistics.restartCount == 1)
        #expect(receiver.statistics.lostCount == 0)
        #expect(receiver.block()?.extendedHighestSequenceNumber == UInt32(farther + 1))
    }

    @Test("A.1: a jump within the limits is loss or lateness, not a restart", arguments: [2999, -100])
    func noRestart(jump: Int) {
        var receiver = Receiver()
        for sequence in 20_000..<20_010 { receiver.receive(sequence) }
        receiver.receive(20_009 + jump)
        #expect(receiver.statistics.receivedCount == 11)
        #expect(receiver.statistics.restartCount == 0)
    }

    @Test("A.8: packets on the beat have no jitter, over wraps of number and timestamp")
    func noJitter() {
        var receiver = Receiver()
        // 2^32 / 960 is 4 473 924.27, so the timestamp wraps here.
        for sequence in 4_473_800..<4_474_100 { receiver.receive(sequence) }
        #expect(receiver.statistics.interarrivalJitter == 0)
    }

    @Test("A.8: a step of 10 ms adds a sixteenth of itself, and fades by sixteenths")
    func oneStep() {
        var receiver = Receiver()
        receiver.receive(0)
        receiver.receive(1, delay: .milliseconds(10))
        // 480 ticks / 16
        #expect(receiver.statistics.interarrivalJitter == 30)
        receiver.receive(2, delay: .milliseconds(10))
        // 480 - (480 + 8) / 16 = 450 sixteenths
        #expect(receiver.statistics.interarrivalJitter == 28)
    }

    @Test("A.8: delays that alternate by 10 ms settle at 480 ticks, in both directions")
    func settles() {
        var receiver = Receiver()
        for sequence in 0..<400 { receiver.receive(sequence, delay: .milliseconds(sequence & 1 == 0 ? 0 : 10)) }
        #expect(abs(Int(receiver.statistics.interarrivalJitter) - 480) <= 1)
    }

    @Test("a jump of the sender's timestamps is no jitter")
    func timestampJump() {
        var receiver = Receiver()
        for sequence in 0..<10 { receiver.receive(sequence) }
        for sequence in 10..<20 { receiver.receive(sequence, delay: .seconds(3600)) }
        #expect(receiver.statistics.interarrivalJitter == 0)
    }

    @Test("6.4.1: a sender report is quoted with the delay since it came")
    func senderReport() throws {
        var receiver = Receiver()
        receiver.receive(0)
        #expect(receiver.block()?.lastSenderReport == 0)
        #expect(receiver.block()?.delaySinceLastSenderReport == 0)
        let report = SenderReport(
            synchronizationSource: 7, networkTime: NetworkTime(rawValue: 0x1234_5678_9ABC_DEF0), timestamp: 0,
            packetCount: 1, octetCount: 1)
        receiver.statistics.receive(report, arrival: .seconds(100))
        let block = try receiver.report(now: .milliseconds(105_250))
        #expect(block.lastSenderReport == 0x5678_9ABC)
        // 5.25 s in 2^-16 s, the number of the RFC's figure 2
        #expect(block.delaySinceLastSenderReport == 0x0005_4000)
        // A clock that steps back gives no delay, rather than a day of it
        #expect(receiver.statistics.makeReportBlock(now: .seconds(99))?.delaySinceLastSenderReport == 0)
    }

    @Test("whatever comes, in any order, losses and arrivals add up to what was expected", arguments: UInt64(1)...20)
    func sums(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        var receiver = Receiver()
        let first = Int.random(in: 0...65535, using: &random)
        receiver.receive(first)
        var received = 1
        var highest = first
        for base in 1...500 where Int.random(in: 0..<4, using: &random) > 0 {
            let sequence = max(first, first + base - Int.random(in: 0...5, using: &random))
            receiver.receive(sequence, delay: .milliseconds(Int.random(in: 0...40, using: &random)))
            received += 1
            highest = max(highest, sequence)
        }
        let statistics = receiver.statistics
        #expect(statistics.receivedCount == Int64(received), "seed \(seed)")
        #expect(statistics.expectedCount == Int64(highest - first + 1), "seed \(seed)")
        #expect(statistics.lostCount == statistics.expectedCount - Int64(received), "seed \(seed)")
        #expect(try #require(statistics.extendedHighestSequenceNumber) == UInt32(highest), "seed \(seed)")
        #expect(1...1920 ~= statistics.interarrivalJitter, "seed \(seed)")
    }
}
