/// Floats at a fixed address, zero at first, aligned for vector loads; owned by one value.
///
/// The signal-processing kernels of this folder work on its pointer inside their safe interfaces. Its owner alone touches it.
@safe struct SampleMemory: ~Copyable, @unchecked Sendable {
    /// One cache line, in bytes.
    private static let alignment = 64

    let count: Int
    let base: UnsafeMutablePointer<Float>

    init(count: Int) {
        self.count = count
        let bytes = max(count, 1) * MemoryLayout<Float>.stride
        let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: Self.alignment)
        unsafe base = memory.bindMemory(to: Float.self, capacity: count)
        unsafe base.initialize(repeating: 0, count: count)
    }

    init(_ samples: Span<Float>) {
        self.init(count: samples.count)
        for index in samples.indices { unsafe base[index] = samples[index] }
    }

    deinit {
        unsafe UnsafeMutableRawPointer(base).deallocate()
    }

    subscript(index: Int) -> Float {
        get {
            precondition(index >= 0 && index < count)
            return unsafe base[index]
        }
        nonmutating set {
            precondition(index >= 0 && index < count)
            unsafe base[index] = newValue
        }
    }

    func clear() {
        for index in 0..<count { unsafe base[index] = 0 }
    }
}
