import CVoiceKernels
import Glibc

/// A fixed number of plain values at a fixed place in memory, aligned for the kernels: state that is touched every
/// block and never grows. Its one owner alone touches it, so it may go from thread to thread with its owner.
@safe
@usableFromInline
package struct FixedArray<Element: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
    @usableFromInline package let count: Int
    /// For the kernels, which take the count on trust; valid as long as `self`.
    @usableFromInline package let start: UnsafeMutablePointer<Element>

    @inlinable
    package init(count: Int, repeating value: Element) {
        self.count = count
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: count * MemoryLayout<Element>.stride, alignment: 64)
        unsafe start = memory.bindMemory(to: Element.self, capacity: count)
        unsafe start.initialize(repeating: value, count: count)
    }

    deinit { unsafe UnsafeMutableRawPointer(start).deallocate() }

    // Transparent, so that it costs no call by generic metadata where nothing is optimised: debug builds process sound
    // up to twice as fast.
    @inlinable package subscript(index: Int) -> Element {
        @_transparent get {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "within the array")
            return unsafe start[index]
        }
        @_transparent set {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "within the array")
            unsafe start[index] = newValue
        }
    }

    @inlinable
    package mutating func fill(_ value: Element) {
        unsafe start.update(repeating: value, count: count)
    }

    @inlinable
    package mutating func copy(from other: borrowing FixedArray) {
        precondition(other.count == count)
        unsafe UnsafeMutableRawPointer(start).copyMemory(
            from: other.start, byteCount: count * MemoryLayout<Element>.stride)
    }

    /// Writes a whole span from `first` on.
    @inlinable
    package mutating func write(_ span: Span<Element>, at first: Int = 0) {
        precondition(first >= 0 && first + span.count <= count)
        unsafe span.withUnsafeBufferPointer { source in
            guard let from = source.baseAddress else { return }
            unsafe UnsafeMutableRawPointer(start + first).copyMemory(
                from: from, byteCount: source.count * MemoryLayout<Element>.stride)
        }
    }

    /// Writes `length` values of another array, all of them by default, from `first` on.
    @inlinable
    package mutating func write(
        _ other: borrowing FixedArray, from begin: Int = 0, count length: Int? = nil, at first: Int
    ) {
        let length = length ?? other.count
        write(other.span.extracting(begin..<begin + length), at: first)
    }

    /// Drops the first `places` values and moves the rest to the beginning; the end keeps what was there.
    @inlinable
    package mutating func shiftDown(by places: Int) {
        precondition(places >= 0 && places <= count)
        unsafe memmove(start, start + places, (count - places) * MemoryLayout<Element>.stride)
    }

    @inlinable package var span: Span<Element> {
        @_lifetime(borrow self)
        borrowing get {
            let span = unsafe Span(_unsafeStart: start, count: count)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    @inlinable package var mutableSpan: MutableSpan<Element> {
        @_lifetime(&self)
        mutating get {
            let span = unsafe MutableSpan(_unsafeStart: start, count: count)
            return unsafe _overrideLifetime(span, mutating: &self)
        }
    }
}

/// Real numbers: frames of a signal, or one value for each frequency bin.
@usableFromInline
package typealias RealVector = FixedArray<Float>

extension FixedArray<Float> {
    package init(count: Int) { self.init(count: count, repeating: 0) }

    /// Sum of squares.
    package var energy: Float { unsafe vk_dot(start, start, count) }

    /// Sum of all.
    package var sum: Float { sum(in: 0..<count) }

    /// Sum of a range.
    package func sum(in range: Range<Int>) -> Float {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return unsafe vk_sum(start + range.lowerBound, range.count)
    }

    /// Sum of the products in a range.
    package func dot(_ other: borrowing RealVector, in range: Range<Int>) -> Float {
        precondition(range.lowerBound >= 0 && range.upperBound <= min(count, other.count))
        return unsafe vk_dot(start + range.lowerBound, other.start + range.lowerBound, range.count)
    }

    /// Sum of products.
    package func dot(_ other: borrowing RealVector) -> Float {
        precondition(other.count == count)
        return unsafe vk_dot(start, other.start, count)
    }
}
