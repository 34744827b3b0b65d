import CVoiceKernels
import Glibc

/// Floats at a fixed place in memory, aligned for the kernels.
@safe
struct RealVector: ~Copyable {
    let count: Int
    /// For the kernels, which take the count on trust.
    let start: UnsafeMutablePointer<Float>

    init(count: Int, repeating value: Float = 0) {
        self.count = count
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: count * MemoryLayout<Float>.stride, alignment: 64)
        unsafe start = memory.bindMemory(to: Float.self, capacity: count)
        unsafe start.initialize(repeating: value, count: count)
    }

    deinit { unsafe UnsafeMutableRawPointer(start).deallocate() }

    subscript(index: Int) -> Float {
        @inline(__always) get {
            precondition(index >= 0 && index < count)
            return unsafe start[index]
        }
        @inline(__always) set {
            precondition(index >= 0 && index < count)
            unsafe start[index] = newValue
        }
    }

    mutating func fill(_ value: Float) {
        unsafe start.update(repeating: value, count: count)
    }

    mutating func copy(from other: borrowing RealVector) {
        precondition(other.count == count)
        unsafe UnsafeMutableRawPointer(start).copyMemory(
            from: other.start, byteCount: count * MemoryLayout<Float>.stride)
    }

    /// Writes a whole span from `first` on.
    mutating func write(_ span: Span<Float>, at first: Int = 0) {
        precondition(first >= 0 && first + span.count <= count)
        unsafe span.withUnsafeBufferPointer { source in
            guard let from = source.baseAddress else { return }
            unsafe UnsafeMutableRawPointer(start + first).copyMemory(
                from: from, byteCount: source.count * MemoryLayout<Float>.stride)
        }
    }

    /// Writes `length` values of another vector, all of them by default, from `first` on.
    mutating func write(_ other: borrowing RealVector, from begin: Int = 0, count length: Int? = nil, at first: Int) {
        let length = length ?? other.count
        write(other.span.extracting(begin..<begin + length), at: first)
    }

    /// Drops the first `places` values and moves the rest to the beginning.
    mutating func shiftDown(by places: Int) {
        precondition(places >= 0 && places <= count)
        unsafe memmove(start, start + places, (count - places) * MemoryLayout<Float>.stride)
    }

    var span: Span<Float> {
        @_lifetime(borrow self)
        borrowing get {
            let span = unsafe Span(_unsafeStart: start, count: count)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    var mutableSpan: MutableSpan<Float> {
        @_lifetime(&self)
        mutating get {
            let span = unsafe MutableSpan(_unsafeStart: start, count: count)
            return unsafe _overrideLifetime(span, mutating: &self)
        }
    }

    /// Sum of squares.
    var energy: Float { unsafe vk_dot(start, start, count) }

    /// Sum of products.
    func dot(_ other: borrowing RealVector) -> Float {
        precondition(other.count == count)
        return unsafe vk_dot(start, other.start, count)
    }
}
