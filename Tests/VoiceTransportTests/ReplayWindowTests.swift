import TestCases
import Testing

@testable import VoiceTransport

@Suite("Indices, roll-over and the replay window")
struct ReplayWindowTests {
    @Test("each index is admitted once, and none behind the window", arguments: cases(1...8 as ClosedRange<UInt64>))
    func once(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var window = ReplayWindow<3>()
        var seen: Set<UInt64> = []
        var newest: UInt64 = 0
        for _ in 0..<20_000 {
            // Steps of every size: within a word, over a few, over the whole ring
            let step = [3, 3, 3, 70, 400, 2_000][random.below(6)]
            let index = newest + UInt64(random.below(step))
            let back = UInt64(random.below(random.below(3) == 0 ? 200 : 2))
            let candidate = index >= back ? index - back : index
            let isNew = !seen.contains(candidate) && (seen.isEmpty || candidate + 128 > newest)
            #expect(window.admits(candidate) == isNew, "seed \(seed), \(candidate) behind \(newest)")
            guard isNew else { continue }
            window.insert(candidate)
            seen.insert(candidate)
            newest = max(newest, candidate)
            #expect(window.newest == newest)
        }
        #expect(seen.count > 1_000)
    }

    @Test("the window is as wide as it says, wherever the newest stands in its word", arguments: 500...700)
    func width(newest: Int) {
        var window = ReplayWindow<9>()
        #expect(ReplayWindow<9>.width == 512)
        window.insert(UInt64(newest))
        for index in 0...newest {
            let isInside = index > newest - 512 && index < newest
            #expect(window.admits(UInt64(index)) == isInside, "\(index) behind \(newest)")
        }
        #expect(window.admits(UInt64(newest) + 1))
    }

    @Test(
        "the index is the nearest that ends in the sequence number, or, behind the window, a lap later",
        arguments: cases(1...4 as ClosedRange<UInt64>))
    func nearest(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        for _ in 0..<20_000 {
            // Near the ends of laps, in the first laps and in late ones
            let lap = UInt64([0, 1, 2, 70_000][random.below(4)])
            let place = [0, 32_767, 32_768, 65_535, random.below(65_536)][random.below(5)]
            let newest = lap << 16 | UInt64(place)
            let number = UInt16([0, 1, 32_767, 32_768, 65_535, random.below(65_536)][random.below(6)])
            var stream = SRTPStream()
            #expect(stream.index(of: number) == UInt64(number))
            stream.sound.insert(newest)
            let index = try #require(stream.index(of: number))
            #expect(UInt16(truncatingIfNeeded: index) == number)
            let distance = Int64(index) - Int64(newest)
            // Below 0 there is no lap, so that the first may be leapt through
            let isFirstLap = lap == 0 && index < 1 << 16
            let isLater = (65_536 - 32_768...65_536 - 512).contains(distance)
            #expect(
                (-511...32_768).contains(distance) || isLater || isFirstLap, "seed \(seed), \(number) near \(newest)")
        }
    }

    @Test("after the last index there is none")
    func last() {
        var stream = SRTPStream()
        stream.sound.insert(SRTPStream.soundLimit - 1)
        #expect(stream.index(of: 0) == nil)
        #expect(stream.index(of: 65_535) == SRTPStream.soundLimit - 1)
        #expect(stream.index(of: 65_025) == SRTPStream.soundLimit - 511)
        // Behind the window, and a lap later there is none
        #expect(stream.index(of: 65_000) == nil)
    }
}
