import Testing
import VoiceSignal

@Suite("A line of the newest frames")
struct DelayLineTests {
    /// Given a line and blocks of all lengths, when each is pushed, then it holds the end of all that came, oldest
    /// first, as a list does that keeps everything; through many moves of its memory.
    @Test("holds the newest frames, however they come", arguments: [1, 7, 160, 320, 2_181])
    func newest(count: Int) {
        var line = DelayLine(count: count)
        var all = [Float](repeating: 0, count: count)
        var length = 1
        for number in 0..<400 {
            length = (length * 31 + number) % (count + 50)
            let block = (0..<length).map { Float(number * 10_000 + $0) }
            line.push(block.span)
            all.append(contentsOf: block)
            all.removeFirst(all.count - count)
            #expect(Self.frames(of: line) == all, "block \(number) of \(length) frames")
        }
    }

    @Test("takes a part of a vector, and forgets")
    func part() {
        var line = DelayLine(count: 4)
        var vector = RealVector(count: 5)
        for index in 0..<5 { vector[index] = Float(index + 1) }
        line.push(vector, from: 1, count: 3)
        #expect(Self.frames(of: line) == [0, 2, 3, 4])
        #expect(line.energy == 29)
        line.push(vector)
        #expect(Self.frames(of: line) == [2, 3, 4, 5])
        line.clear()
        #expect(Self.frames(of: line) == [0, 0, 0, 0])
    }

    private static func frames(of line: borrowing DelayLine) -> [Float] {
        var frames: [Float] = []
        for index in 0..<line.count { frames.append(line[index]) }
        return frames
    }
}
