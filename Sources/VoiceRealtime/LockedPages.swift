internal import CLinuxRealtime

/// Memory for rings: on pages of its own, touched, and locked where the limit allows it, so that no page fault
/// interrupts who uses it.
enum LockedPages {
    /// Room for `count` values, not initialized. Not real-time safe.
    static func allocate<Value: BitwiseCopyable>(_ type: Value.Type, count: Int) -> UnsafeMutablePointer<Value> {
        guard let memory = unsafe dv_pages_map(max(count, 1) * MemoryLayout<Value>.stride) else {
            // As of any allocation: there is nothing to go on with.
            fatalError("no memory for a ring")
        }
        return unsafe memory.bindMemory(to: type, capacity: count)
    }

    /// Gives back what ``allocate(_:count:)`` gave.
    static func free<Value: BitwiseCopyable>(_ values: UnsafeMutablePointer<Value>, count: Int) {
        unsafe dv_pages_unmap(values, max(count, 1) * MemoryLayout<Value>.stride)
    }
}
