import CVoiceKernels
import Glibc

/// The newest frames of a signal, side by side in memory and oldest first, so that a kernel reads them as they lie.
///
///     memory    ........|--- what was heard before ---|--- the newest `count` frames ---|----- room -----|
///                                                                               push ──>
///
/// A block is written once where the last one ended. Only when there is no room left are the newest frames moved to the
/// beginning: a line whose room is as long as itself moves a frame once while it is in the line, where moving all in
/// each block would do so `count / block` times. Nothing is allocated after `init`.
@safe
@usableFromInline
package struct DelayLine: ~Copyable {
    /// Frames of the line.
    @usableFromInline package let count: Int
    /// Room beyond the line at the least, frames: short lines would else be moved with every block.
    private static let leastRoom = 1_024

    @usableFromInline var memory: RealVector
    /// Where in the memory the line begins.
    @usableFromInline var first = 0

    /// A line of `count` frames of silence.
    package init(count: Int) {
        precondition(count >= 0)
        self.count = count
        memory = RealVector(count: count + max(count, Self.leastRoom))
    }

    /// Takes the next frames, of which as many of the oldest drop out; of more than ``count`` the last.
    package mutating func push(_ block: Span<Float>) {
        let block = block.extracting(last: count)
        if first + count + block.count > memory.count {
            unsafe memmove(
                memory.start, memory.start + first + block.count,
                (count - block.count) * MemoryLayout<Float>.stride)
            first = 0
            memory.write(block, at: count - block.count)
        } else {
            memory.write(block, at: first + count)
            first += block.count
        }
    }

    /// Takes `length` values of a vector, all of them by default, from `begin` on.
    package mutating func push(_ vector: borrowing RealVector, from begin: Int = 0, count length: Int? = nil) {
        push(vector.span.extracting(begin..<begin + (length ?? vector.count - begin)))
    }

    /// Forgets what it heard.
    package mutating func clear() {
        memory.fill(0)
        first = 0
    }

    /// A frame; 0 is the oldest.
    @inlinable package subscript(index: Int) -> Float {
        precondition(index >= 0 && index < count, "within the line")
        return memory[first + index]
    }

    /// The oldest frame, for kernels, which take the count on trust; valid until the next ``push(_:)``.
    @unsafe @inlinable package var start: UnsafePointer<Float> { unsafe UnsafePointer(memory.start + first) }

    /// All frames, oldest first.
    @inlinable package var span: Span<Float> {
        @_lifetime(borrow self)
        borrowing get {
            let span = memory.span.extracting(first..<first + count)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// Sum of squares.
    package var energy: Float { unsafe vk_dot(start, start, count) }
}

extension FixedArray<Float> {
    /// Writes a whole line from `first` on.
    package mutating func write(_ line: borrowing DelayLine, at first: Int = 0) { write(line.span, at: first) }
}
