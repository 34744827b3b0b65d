import TestCases
import Testing
import VoiceRealtime

@Suite("PacketRing: datagrams from one thread to one other")
struct PacketRingTests {
    private let start = MonotonicTime(nanoseconds: 0)

    @Test("packets keep their bytes, length and tag, across many turns", arguments: [UInt64(21), 22])
    func order(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var ring = PacketRing(minimumSlots: 5, slotBytes: 64)
        var sent: [[UInt8]] = []
        var next: UInt32 = 0
        for _ in 0..<5_000 {
            if Bool.random(using: &random) {
                let packet = (0..<Int.random(in: 0...64, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                let tag = PacketTag(time: MonotonicTime(nanoseconds: Int64(next)), stream: next, generation: ~next)
                let isTaken = ring.producer.push(packet.span, tag: tag)
                #expect(isTaken == (sent.count < 8), "seed \(seed)")
                if isTaken {
                    sent.append(packet)
                    next += 1
                }
            } else if !sent.isEmpty {
                // Every packet that lies there can be looked at before the first is given back
                #expect(ring.consumer.available == sent.count, "seed \(seed)")
                let oldest = next - UInt32(sent.count)
                for (offset, packet) in sent.enumerated() {
                    let number = oldest + UInt32(offset)
                    let tag = ring.consumer.tag(ahead: offset)
                    let isTagged =
                        tag.stream == number && tag.generation == ~number && tag.time.nanoseconds == Int64(number)
                    let bytes = ring.consumer.acquire(ahead: offset)
                    var isSame = bytes.count == packet.count
                    for i in packet.indices where isSame { isSame = bytes[i] == packet[i] }
                    #expect(isTagged && isSame, "seed \(seed), packet \(number)")
                }
                let released = Int.random(in: 0...sent.count, using: &random)
                ring.consumer.release(released)
                sent.removeFirst(released)
            }
        }
    }

    @Test("a full ring drops the newest and counts it; so does a packet that fits no slot")
    func overflow() {
        var ring = PacketRing(minimumSlots: 4, slotBytes: 8)
        let packet: [UInt8] = [1, 2, 3]
        for i in 0..<4 {
            let tag = PacketTag(time: start, stream: UInt32(i))
            let isTaken = ring.producer.push(packet.span, tag: tag)
            #expect(isTaken)
        }
        expectEqual(ring.producer.push(packet.span, tag: PacketTag(time: start, stream: 99)), false)
        #expect(ring.producer.droppedPackets == 1)
        let room = ring.producer.acquire().count
        #expect(room == 0)
        #expect(ring.consumer.droppedPackets == 2)
        #expect(ring.consumer.tag().stream == 0)
        ring.consumer.release()
        let long = [UInt8](repeating: 7, count: 9)
        expectEqual(ring.producer.push(long.span, tag: PacketTag(time: start)), false)
        #expect(ring.consumer.droppedPackets == 3)
        #expect(ring.consumer.available == 3)
        let exact = [UInt8](repeating: 7, count: 8)
        expectEqual(ring.producer.push(exact.span, tag: PacketTag(time: start)), true)
    }

    @Test("bytes can be worked on in place, and sent from where they lie")
    func inPlace() {
        var ring = PacketRing(minimumSlots: 2, slotBytes: 1_500)
        var slot = ring.producer.acquire()
        expectEqual(slot.count, 1_500)
        slot[0] = 0x80
        slot[1] = 0x6F
        ring.producer.commit(length: 2, tag: PacketTag(time: start))
        var bytes = ring.consumer.acquire()
        bytes[1] = 0xEF
        unsafe expectEqual([UInt8](ring.consumer.buffer()), [0x80, 0xEF])
    }

    @Test("misuse stops the program instead of corrupting packets")
    func misuse() async {
        await #expect(processExitsWith: .failure) {
            var ring = PacketRing(minimumSlots: 1, slotBytes: 8)
            ring.producer.commit(length: 1, tag: PacketTag(time: MonotonicTime(nanoseconds: 0)))
            ring.producer.commit(length: 1, tag: PacketTag(time: MonotonicTime(nanoseconds: 0)))
        }
        await #expect(processExitsWith: .failure) {
            var ring = PacketRing(minimumSlots: 1, slotBytes: 8)
            ring.consumer.release()
        }
    }
}
