internal import CDuplexVoice
internal import VoiceSignal

/// Frames that wait, first in, first out, in memory of a fixed size; at another rate than they came at where it
/// converts.
struct SampleQueue: ~Copyable {
    /// Frames that may wait: no queue of a ``BlockStream`` holds half as many.
    static let capacity = 4_096
    /// Room that is made for what a call of the converter's yields, frames.
    private static let conversionRoom = 1_024

    private var memory = FixedArray<Float>(count: SampleQueue.capacity, repeating: 0)
    private var first = 0
    private var end = 0
    private var converter: RateConverter?

    /// From one rate to another, Hz.
    init(from: Int, to: Int) throws(Failure) {
        do { converter = from == to ? nil : try RateConverter(inputRate: from, outputRate: to) } catch {
            throw Failure(DV_OUT_OF_MEMORY, "\(error); free memory")
        }
    }

    /// Frames that wait.
    var count: Int { end - first }

    private mutating func makeRoom(_ frames: Int) {
        precondition(count + frames <= Self.capacity, "a queue is never half full")
        guard end + frames > Self.capacity else { return }
        memory.shiftDown(by: first)
        end = end - first
        first = 0
    }

    mutating func appendSilence(_ frames: Int) {
        makeRoom(frames)
        for place in end..<end + frames { memory[place] = 0 }
        end = end + frames
    }

    /// Appends the first `count` frames of a vector, at the rate that they come at.
    mutating func append(_ vector: borrowing FixedArray<Float>, count: Int) {
        let frames = vector.span.extracting(first: count)
        if converter != nil { return convert(frames) }
        makeRoom(frames.count)
        memory.write(frames, at: end)
        end = end + frames.count
    }

    private mutating func convert(_ frames: Span<Float>) {
        unsafe frames.withUnsafeBufferPointer { input in
            guard let start = input.baseAddress else { return }
            var done = 0
            while done < input.count {
                makeRoom(Self.conversionRoom)
                let used =
                    unsafe converter?.process(
                        start + done, input.count - done, memory.start + end, Self.capacity - end)
                guard let used, used.consumed > 0 || used.produced > 0 else { return }
                end = end + used.produced
                done = done + used.consumed
            }
        }
    }

    /// Takes the oldest frames out.
    mutating func take(_ frames: Int, into output: inout FixedArray<Float>) {
        precondition(frames <= count, "no more than wait")
        output.write(memory.span.extracting(first..<first + frames))
        first = first + frames
    }
}
