import Testing
import VoicePlayout
import VoiceWire

/// Packets that repeat the ones before them (RFC 2198).
struct RepeatedPacketTests {
    /// The payload of a packet with copies of the `depth` packets before it.
    private func payload(_ trace: Trace, _ index: Int, depth: Int) -> [UInt8] {
        var (headers, data) = ([UInt8](), [UInt8]())
        for distance in stride(from: min(depth, index), to: 0, by: -1) {
            let copy = trace.packets[index - distance].payload
            let offset = distance * 960
            headers += [
                0x80 | 111, UInt8(offset >> 6), UInt8(offset & 0x3F) << 2 | UInt8(copy.count >> 8),
                UInt8(copy.count & 0xFF),
            ]
            data += copy
        }
        return headers + [111] + data + trace.packets[index].payload
    }

    /// Plays a trace of which `isLost` packets do not come.
    private func play(
        depth: Int, _ configuration: PlayoutConfiguration = .conversation, isLost: (Int) -> Bool
    ) throws -> PlayoutStatistics {
        let trace = Trace(seconds: 10, network: .clean, seed: 1)
        var listening = Listening(configuration, context: "depth \(depth)")
        var next = 0
        for step in 0..<1000 {
            let now = Double(step) * 10
            while next < trace.packets.count, trace.packets[next].milliseconds <= now {
                let packet = trace.packets[next]
                let bytes = payload(trace, next, depth: depth)
                if !isLost(next) {
                    let audio = try RedundantAudio(parsing: bytes.span)
                    _ = listening.buffer.insert(audio, header: packet.header, now: packet.time)
                }
                next += 1
            }
            listening.pull(480, at: now, keepsSound: false)
        }
        listening.expectAccounts()
        return listening.buffer.statistics
    }

    @Test("Lost packets are played from the copies in later ones, once the delay has grown for it")
    func restored() throws {
        // Given every tenth packet lost, each repeated in the one after it
        let statistics = try play(depth: 1) { $0 % 10 == 5 }
        // Then all but the first few are played, and the other copies count as not needed
        #expect(statistics.packetsLost == 50)
        #expect(statistics.concealedSamples <= 4 * 960, "\(statistics.concealedSamples)")
        #expect(statistics.fecPacketsReceived == 448)
        #expect(statistics.fecPacketsReceived - statistics.fecPacketsDiscarded >= 46)
        #expect(statistics.packetsDuplicated == 0)
    }

    @Test("Two packets lost in a row are restored from two copies where they come in time")
    func bursts() throws {
        let single = try play(depth: 1) { $0 % 10 == 5 || $0 % 10 == 6 }
        let double = try play(depth: 2) { $0 % 10 == 5 || $0 % 10 == 6 }
        #expect(double.concealedSamples < single.concealedSamples)
    }

    @Test("Where redundancy is not to be used, copies are neither kept nor waited for")
    func unused() throws {
        var configuration = PlayoutConfiguration.conversation
        configuration.usesRedundancy = false
        let with = try play(depth: 2, configuration) { $0 % 10 == 5 }
        let without = try play(depth: 0, configuration) { $0 % 10 == 5 }
        #expect(with.concealedSamples == without.concealedSamples && with.fecPacketsReceived == 0)
        #expect(with.jitterBufferDelay == without.jitterBufferDelay)
    }

    @Test("Without loss copies change nothing")
    func withoutLoss() throws {
        let with = try play(depth: 2) { _ in false }
        let without = try play(depth: 0) { _ in false }
        #expect(with.decodedSamples == without.decodedSamples && with.jitterBufferDelay == without.jitterBufferDelay)
        #expect(with.fecPacketsReceived == with.fecPacketsDiscarded && with.fecPacketsReceived > 900)
    }

    @Test("A copy that a refused packet carries takes no place of one that waits")
    func refusedCarrier() throws {
        // Given room for 64 packets, which are all there while somebody listens
        var configuration = PlayoutConfiguration.conversation
        configuration.packetCapacity = 64
        let trace = Trace(seconds: 2, network: .clean, seed: 1)
        var listening = Listening(configuration)
        listening.pull(480, at: 0)
        func insert(_ index: Int, depth: Int) throws -> InsertOutcome {
            let bytes = payload(trace, index, depth: depth)
            let audio = try RedundantAudio(parsing: bytes.span)
            return listening.buffer.insert(audio, header: trace.packets[index].header, now: .milliseconds(5))
        }
        for index in 0..<64 { #expect(try insert(index, depth: 0) == .stored) }
        // When one is lost, and the next, which is too far ahead as well, brings copies of it and of one that was
        // refused
        for index in 64..<66 { #expect(try insert(index, depth: 0) == .overrun) }
        #expect(try insert(67, depth: 2) == .overrun)
        // Then all 64 are played
        for step in 1..<150 { listening.pull(480, at: Double(step) * 10) }
        #expect(listening.buffer.statistics.decodedSamples == 64 * 960)
        #expect(listening.buffer.statistics.fecPacketsDiscarded == 2)
        listening.expectAccounts()
    }
}
