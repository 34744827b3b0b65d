/// A fixed number of plain values at a fixed place in memory: per-bin state that is touched every block and never grows.
@safe
struct FixedArray<Element: BitwiseCopyable>: ~Copyable {
    let count: Int
    private let base: UnsafeMutablePointer<Element>

    init(repeating value: Element, count: Int) {
        precondition(count > 0, "an array of something")
        self.count = count
        unsafe base = .allocate(capacity: count)
        unsafe base.initialize(repeating: value, count: count)
    }

    deinit { unsafe base.deallocate() }

    @inline(__always)
    subscript(index: Int) -> Element {
        get {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "within the array")
            return unsafe base[index]
        }
        nonmutating set {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "within the array")
            unsafe base[index] = newValue
        }
    }

    /// Drops the first `dropped` elements, moving the rest to the front; the end keeps what was there.
    func shift(by dropped: Int) {
        precondition((0...count).contains(dropped), "within the array")
        let bytes = (count - dropped) * MemoryLayout<Element>.stride
        unsafe UnsafeMutableRawPointer(base).copyMemory(from: base + dropped, byteCount: bytes)
    }

    /// Where it lies, for kernels that take pointers; valid as long as `self`.
    @unsafe var pointer: UnsafeMutablePointer<Element> { unsafe base }
}
