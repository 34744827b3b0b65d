import TestCases
import Testing

@testable import VoiceWire

@Suite("Loss patterns in extended reports (RFC 3611 section 4.1)")
struct ExtendedReportTests {
    /// A pattern with this outcome of each packet.
    private func pattern(_ outcomes: [Bool], first: UInt16 = 65_530) -> LossPattern {
        var pattern = LossPattern(firstSequenceNumber: first)
        for outcome in outcomes { pattern.append(outcome) }
        return pattern
    }

    /// What is read from a report that was written with these patterns, of sources 100, 101 and so on.
    private func roundTrip(_ patterns: [LossPattern], limit: Int = 1_200) throws -> (
        bytes: [UInt8], read: [LossPattern]
    ) {
        var bytes = [UInt8](repeating: 0xEE, count: 1_500)
        var span = bytes.mutableSpan
        var writer = ExtendedReportWriter(synchronizationSource: 7, at: 0, limit: limit)
        for (index, pattern) in patterns.enumerated() {
            guard writer.append(pattern, of: 100 + UInt32(index), to: &span) else { break }
        }
        let written = Array(bytes[..<writer.byteCount])
        var read: [LossPattern] = []
        guard !written.isEmpty else { return (written, read) }
        let packet = try RTCPPacket(parsing: written.span)
        #expect(packet.kind == .extendedReport && packet.byteCount == written.count)
        var blocks = try LossPatterns(parsing: packet)
        #expect(blocks.synchronizationSource == 7)
        while let element = try blocks.next() {
            #expect(element.source == 100 + UInt32(read.count))
            read.append(element.pattern)
        }
        return (written, read)
    }

    @Test("A block is written as the RFC draws it: a long run, then a bit vector, padded with a null chunk")
    func layout() throws {
        // Given 20 packets received, then one lost and two received
        let given = pattern([Bool](repeating: true, count: 20) + [false, true, true], first: 5)
        let bytes = try roundTrip([given]).bytes
        // Then: header, sender, block type 1 of 3 words and one, source, begin 5, end 28 (one behind the last), a run
        // of 20 ones, a vector
        #expect(
            bytes == [
                0x80, 207, 0, 5, 0, 0, 0, 7, 1, 0, 0, 3, 0, 0, 0, 100, 0, 5, 0, 28, 0x40, 20, 0x80 | 0x30, 0,
            ])
    }

    /// The sources of the blocks with patterns, how many blocks were looked at, and the error that ended it.
    private func walk(_ bytes: [UInt8]) throws -> (sources: [UInt32], seen: Int, error: WireError?) {
        var patterns = try LossPatterns(parsing: RTCPPacket(parsing: bytes.span))
        var sources: [UInt32] = []
        do throws(WireError) {
            while let block = try patterns.nextBlock() { sources.append(block.source) }
        } catch {
            return (sources, patterns.blocksSeen, error)
        }
        return (sources, patterns.blocksSeen, nil)
    }

    @Test("Of a report full of patterns only those that are asked for are read, and of too many none is looked at")
    func many() throws {
        // Given 70 patterns, a run of 16383 packets each, of sources 100 to 169
        let many = (0..<70).flatMap { index -> [UInt8] in
            [1, 0, 0, 3, 0, 0, 0, 100 + UInt8(index), 0, 0, 0xFF, 0xFF, 0x7F, 0xFF, 0, 0]
        }
        let words = UInt16(1 + many.count / 4)
        let bytes = [0x80, 207, UInt8(words >> 8), UInt8(words & 255), 0, 0, 0, 7] + many
        // When that of 120 is wanted
        var patterns = try LossPatterns(parsing: RTCPPacket(parsing: bytes.span))
        var found: LossPattern?
        while found == nil, let block = try patterns.nextBlock() {
            if block.source == 120 { found = patterns.pattern(of: block) }
        }
        // Then the others cost no more than to be passed over
        #expect(found?.count == LossPattern.capacity && found?.lostCount == 0)
        let (seen, read) = (patterns.blocksSeen, patterns.patternsRead)
        #expect(seen == 21 && read == 1)
        // And beyond the limit nothing is looked at, of whatever kind it is
        let limit = LossPatterns.blockLimit
        let all = try walk(bytes)
        #expect(all.sources == (0..<UInt32(limit)).map { 100 + $0 })
        #expect(all.seen == limit && all.error == .malformed(.extendedReport))
        let unknown: [UInt8] = [0x80, 207, 0, 101, 0, 0, 0, 7] + (0..<100).flatMap { _ in [9, 0, 0, 0] as [UInt8] }
        let others = try walk(unknown)
        #expect(others.sources.isEmpty && others.seen == limit && others.error == .malformed(.extendedReport))
    }

    @Test("A run adds what its packets would one by one", arguments: UInt64(1)...20)
    func runs(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var (one, other) = (LossPattern(firstSequenceNumber: 3), LossPattern(firstSequenceNumber: 3))
        while one.count < LossPattern.capacity {
            let (length, received) = (Int.random(in: 0...140, using: &random), Bool.random(using: &random))
            one.append(received, count: length)
            for _ in 0..<length { other.append(received) }
            #expect(one == other, "seed \(seed)")
        }
    }

    @Test("Whatever was received is read as it was written", arguments: UInt64(1)...40)
    func anyPattern(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let patterns = (0..<3).map { _ in
            var state = true
            let stay = UInt8.random(in: 128...255, using: &random)
            return pattern(
                (0..<Int.random(in: 1...LossPattern.capacity, using: &random)).map { _ in
                    if UInt8.random(in: 0...255, using: &random) > stay { state.toggle() }
                    return state
                }, first: .random(in: 0 ... .max, using: &random))
        }
        #expect(try roundTrip(patterns).read == patterns, "seed \(seed)")
    }

    @Test("What does not fit is left out whole")
    func limit() throws {
        let long = pattern((0..<LossPattern.capacity).map { $0 % 2 == 0 })
        let (bytes, read) = try roundTrip([long, long, long], limit: 120)
        #expect(read == [long, long])
        #expect(bytes.count <= 120)
    }

    @Test("Cut short anywhere, it is refused or ends; thinned and unknown blocks are passed over")
    func damaged() throws {
        let bytes = try roundTrip([pattern([true, false, true]), pattern([false])]).bytes
        for length in stride(from: 8, to: bytes.count, by: 4) {
            var cut = Array(bytes[..<length])
            cut[3] = UInt8(length / 4 - 1)
            let packet = try RTCPPacket(parsing: cut.span)
            var blocks = try LossPatterns(parsing: packet)
            var count = 0
            while let element = try? blocks.next() { count += element.pattern.count > 0 ? 1 : 0 }
            // The first block ends at 24 bytes.
            #expect(count == (length < 24 ? 0 : 1), "\(length) bytes")
        }
        var thinned = bytes
        thinned[9] = 1
        var blocks = try LossPatterns(parsing: RTCPPacket(parsing: thinned.span))
        let first = try blocks.next()
        #expect(first?.source == 101)
    }
}

@Suite("Which packets came")
struct ReceptionWindowTests {
    private func receive(_ sequences: [UInt16]) -> ReceptionStatistics {
        var statistics = ReceptionStatistics(synchronizationSource: 9)
        for sequence in sequences {
            statistics.receive(
                RTPHeader(
                    payloadType: 111, sequenceNumber: sequence, timestamp: UInt32(sequence) * 960,
                    synchronizationSource: 9),
                arrival: .milliseconds(20 * Int(sequence)))
        }
        return statistics
    }

    private func outcomes(_ pattern: LossPattern?) -> [Bool]? {
        pattern.map { pattern in (0..<pattern.count).map { pattern[$0] } }
    }

    @Test("A pattern tells each packet once: late ones count if they come before it is taken")
    func taken() {
        var statistics = receive([10, 11, 14, 13])
        #expect(outcomes(statistics.takeLossPattern()) == [true, true, false, true, true])
        #expect(statistics.takeLossPattern() == nil)
        // When the next comes, the pattern goes on behind the last
        statistics.receive(
            RTPHeader(payloadType: 111, sequenceNumber: 16, timestamp: 0, synchronizationSource: 9), arrival: .zero)
        let next = statistics.takeLossPattern()
        #expect(next?.firstSequenceNumber == 15)
        #expect(outcomes(next) == [false, true])
    }

    @Test("Of a long silence only the last packets are told")
    func long() {
        var statistics = receive([1, 1_000])
        let pattern = statistics.takeLossPattern()
        #expect(pattern?.count == LossPattern.capacity)
        #expect(pattern?.lostCount == LossPattern.capacity - 1)
        #expect(pattern?.firstSequenceNumber == UInt16(1_001 - LossPattern.capacity))
    }
}
