import TestCases
import Testing
import VoiceRealtime

@Suite("TripleBuffer: the latest value, never torn")
struct TripleBufferTests {
    @Test("reads the initial value until something is published, then the latest, as often as asked")
    func latest() {
        var buffer = TripleBuffer(7)
        expectEqual(buffer.reader.latest(), 7)
        expectEqual(buffer.reader.latest(), 7)
        buffer.writer.publish(8)
        expectEqual(buffer.reader.latest(), 8)
        expectEqual(buffer.reader.latest(), 8)
        buffer.writer.publish(9)
        buffer.writer.publish(10)
        buffer.writer.publish(11)
        expectEqual(buffer.reader.latest(), 11)
    }

    @Test("agrees with a plain variable over random publishing and looking", arguments: [UInt64(41), 42])
    func property(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var buffer = TripleBuffer<UInt64>(0)
        var last: UInt64 = 0
        for _ in 0..<10_000 {
            if Bool.random(using: &random) {
                last = random.next()
                buffer.writer.publish(last)
            } else {
                expectEqual(buffer.reader.latest(), last, "seed \(seed)")
            }
        }
    }
}
