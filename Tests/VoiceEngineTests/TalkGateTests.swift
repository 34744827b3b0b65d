import Testing
import VoiceRealtime

@testable import VoiceEngine

@Suite("The gate of the microphone")
struct TalkGateTests {
    /// A gate of 10 ms blocks, and what came out of it.
    private struct Bench: ~Copyable {
        var gate = TalkGate(blockFrames: 480)
        /// Of each block whether it was sent, and not as silence.
        var given: [(number: Int, isSent: Bool, samples: [Float])] = []
        /// Blocks that were sent as silence.
        var silent: [Int] = []
        private var inserted = 0

        /// Blocks that hold their number plus 1 in each frame.
        mutating func pass(_ blocks: Int) {
            for _ in 0..<blocks {
                let block = [Float](repeating: Float(inserted + 1), count: 480)
                let moment = BlockMoment(
                    adcTime: MonotonicTime(nanoseconds: Int64(inserted) * 10_000_000), delayFrames: 0, level: -30,
                    hasVoice: true, isAudible: true)
                inserted += 1
                if gate.isPassing {
                    given.append((inserted - 1, true, block))
                    continue
                }
                gate.insert(block.span, moment)
                var output = [Float](repeating: 0, count: 480)
                while let moment = take(&output) {
                    let number = Int(moment.adcTime.nanoseconds / 10_000_000)
                    given.append((number, moment.isSent && moment.isAudible, output))
                    if moment.isSent && !moment.isAudible { silent.append(number) }
                }
            }
        }

        private mutating func take(_ output: inout [Float]) -> BlockMoment? {
            var span = output.mutableSpan
            return gate.next(into: &span)
        }

        var sent: [Int] { given.filter(\.isSent).map(\.number) }
    }

    @Test("Given a gate that was never closed, when blocks come, then each goes by at once")
    func open() {
        var bench = Bench()
        bench.pass(5)
        #expect(bench.sent == [0, 1, 2, 3, 4])
    }

    @Test(
        "Given a closed gate that keeps 300 ms, when it opens, then what it has kept is sent first, whole and in order, within 100 ms"
    )
    func preRoll() {
        var bench = Bench()
        bench.gate.close(keeping: 14_400, packetFrames: 960)
        bench.pass(100)
        // The block with which it faded out
        #expect(bench.sent == [0])
        bench.gate.open()
        bench.pass(10)
        #expect(bench.sent == [0] + Array(70..<110))
        bench.pass(5)
        #expect(bench.given.map(\.number) == Array(0..<115), "each block comes out once")
        let isPassing = bench.gate.isPassing
        #expect(isPassing)
    }

    @Test(
        "Given a press shorter than its pre-roll takes to be sent, when it ends, then what was said until then is sent")
    func shortPress() {
        var bench = Bench()
        bench.gate.close(keeping: 24_000, packetFrames: 960)
        bench.pass(100)
        bench.gate.open()
        bench.pass(3)
        bench.gate.close(keeping: 24_000, packetFrames: 960)
        bench.pass(60)
        #expect(bench.sent == [0] + Array(50..<104))
        #expect(bench.given.map(\.number) == Array(0..<bench.given.count), "each block comes out once")
    }

    @Test(
        "Given a gate that closes, when it does, then the last block fades out and the first of the next opening fades in"
    )
    func fades() throws {
        var bench = Bench()
        bench.pass(2)
        bench.gate.close(keeping: 4_800, packetFrames: 960)
        bench.pass(3)
        let last = try #require(bench.given.last { $0.isSent })
        #expect(last.number == 2 && last.samples[0] == 3 && last.samples[479] < 0.02)
        bench.pass(30)
        bench.gate.open()
        bench.pass(1)
        let first = try #require(bench.given.first { $0.isSent && $0.number > 2 })
        #expect(first.samples[0] < 0.1 * Float(first.number) && first.samples[479] == Float(first.number + 1))
    }

    @Test(
        "Given a gate that keeps 500 ms, when it closes, then what fills the packet of the fade and another one, or 20 ms, comes behind it at once, as silence",
        arguments: [(120, 2), (480, 2), (960, 3), (2_880, 11)])
    func rest(packetFrames: Int, blocks: Int) {
        var bench = Bench()
        bench.pass(5)
        bench.gate.close(keeping: 24_000, packetFrames: packetFrames)
        bench.pass(1 + blocks + 5)
        #expect(bench.sent == Array(0...5))
        #expect(bench.silent == Array(6..<6 + blocks))
        #expect(bench.given[6...].allSatisfy { $0.samples.allSatisfy { $0 == 0 } })
        // When it opens again in the midst of that, then it fades in
        bench.pass(60)
        bench.gate.open()
        bench.pass(20)
        bench.gate.close(keeping: 0, packetFrames: packetFrames)
        bench.pass(2)
        bench.gate.open()
        bench.pass(2)
        let first = bench.given.suffix(2)
        #expect(first.allSatisfy { $0.isSent })
        #expect(first.first.map { $0.samples[0] < 0.1 * Float($0.number) } == true)
    }

    @Test(
        "Given a gate that is opened and closed at any time, when it is, then every block comes out once and in order, and never more than four are sent for one that comes"
    )
    func anyOrder() {
        var bench = Bench()
        var state: UInt64 = 7
        for _ in 0..<2_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            switch (state >> 33) % 20 {
            case 0: bench.gate.open()
            case 1: bench.gate.close(keeping: Int((state >> 40) % 30_000), packetFrames: 960)
            default: break
            }
            let before = bench.given.count
            bench.pass(1)
            #expect(bench.given.count - before <= 52)
            #expect(bench.given[before...].count { $0.isSent } <= 4)
        }
        #expect(bench.given.map(\.number) == Array(0..<bench.given.count))
        #expect(bench.sent.count > 100 && bench.given.count - bench.sent.count > 100)
    }
}
