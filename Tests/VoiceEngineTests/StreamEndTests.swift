import Testing
import VoiceDevices
import VoicePlayout
import VoiceRealtime
import VoiceWire

@testable import VoiceEngine

@Suite("The end of a stream")
struct StreamEndTests {
    /// A table of one slot with a talker whose tone is played, in simulated time.
    private struct Bench: ~Copyable {
        var table: StreamTable
        var heard: [Float] = []
        private var packets: TonePackets
        private var none: FarEndTable
        private var now: Duration = .seconds(100)

        init() throws {
            // All that may throw first: what cannot be copied is made at once, or not at all.
            var table = try StreamTable(count: 1, configuration: .conversation)
            let packets = try TonePackets(source: 10)
            let rendered = ValueRing<RenderedSpan>(minimumCapacity: 1)
            let news = ValueRing<FarEndNews>(minimumCapacity: 1)
            _ = table.add(10)
            self.table = table
            self.packets = packets
            none = FarEndTable(rendered: rendered.consumer, news: news.producer, wake: nil)
        }

        /// Lets so many packets come at once.
        mutating func insert(packets count: Int) throws {
            for _ in 0..<count {
                let bytes = try packets.next()
                _ = table.insert(try RTPPacket(parsing: bytes.span), arrival: now)
            }
        }

        /// Plays blocks of 10 ms.
        mutating func play(blocks: Int) {
            for _ in 0..<blocks {
                var mix = [Float](repeating: 0, count: 480)
                var scratch = mix
                var mixSpan = mix.mutableSpan
                var scratchSpan = scratch.mutableSpan
                table.mix(
                    into: &mixSpan, scratch: &scratchSpan, now: now, sinks: &none,
                    at: MixMoment(ringFrame: 0, scale: 1))
                heard += mix
                now += .milliseconds(10)
            }
        }

        /// A second of tone, and what comes 100 ms ahead of its time.
        mutating func talk() throws {
            for _ in 0..<50 {
                try insert(packets: 1)
                play(blocks: 2)
            }
            try insert(packets: 5)
        }
    }

    @Test("is heard to its last packet, and fades out behind it")
    func rest() throws {
        // Given a talker of whose sound 100 ms wait
        var bench = try Bench()
        try bench.talk()
        // When it goes
        let end = bench.heard.count
        bench.table.remove(10)
        bench.play(blocks: 60)
        // Then what waits is heard, and nothing behind it
        let heard = bench.heard
        let last = heard.lastIndex { abs($0) > 0.1 } ?? 0
        #expect((60 * 48..<200 * 48).contains(last - end), "\(last - end) frames")
        #expect(heard.suffix(4_800).allSatisfy { $0 == 0 })
        // And without a click; the tone's own steps are 0.026
        let steps = zip(heard.dropFirst(4_800), heard.dropFirst(4_801)).map { abs($0 - $1) }
        #expect((steps.max() ?? 0) < 0.06)
    }

    @Test("is cut short where another talker needs the slot")
    func slot() throws {
        var bench = try Bench()
        try bench.talk()
        bench.table.remove(10)
        _ = bench.table.add(20)
        let played = bench.table.report()
        #expect(played.count == 1 && played[0].synchronizationSource == 20)
        let end = bench.heard.count
        bench.play(blocks: 20)
        #expect(bench.heard[end...].allSatisfy { abs($0) < 1e-3 })
    }
}
