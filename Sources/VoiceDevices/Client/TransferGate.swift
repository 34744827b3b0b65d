internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#endif

/// Lets one thread at a time through, without waiting, while it is open; whoever closes it waits for the one inside.
///
/// A second thread that comes while another is inside is turned away: the client has broken the rule of one thread for
/// each direction, and loses frames instead of memory safety. Sequentially consistent, since each side first writes its
/// own flag and then reads the other's (Dekker's algorithm).
@safe
package struct TransferGate: BitwiseCopyable, @unchecked Sendable {
    private struct Flags: ~Copyable {
        let isOpen = Atomic<Bool>(false)
        let isTaken = Atomic<Bool>(false)
    }

    /// Behind a pointer, as real-time code may not count references.
    private let flags: UnsafeMutablePointer<Flags>

    private init(flags: UnsafeMutablePointer<Flags>) { unsafe self.flags = flags }

    package static func make() -> TransferGate {
        let flags = UnsafeMutablePointer<Flags>.allocate(capacity: 1)
        unsafe flags.initialize(to: Flags())
        return unsafe TransferGate(flags: flags)
    }

    package func free() {
        unsafe flags.deinitialize(count: 1)
        unsafe flags.deallocate()
    }

    package func open() { unsafe flags.pointee.isOpen.store(true, ordering: .sequentiallyConsistent) }

    /// Turns later comers away and waits until nobody is inside. Blocks for as long as a transfer takes.
    package func close() {
        unsafe flags.pointee.isOpen.store(false, ordering: .sequentiallyConsistent)
        while unsafe flags.pointee.isTaken.load(ordering: .sequentiallyConsistent) { sched_yield() }
    }

    /// True for who may go in, and must then ``leave()``. Real-time safe.
    @_noLocks @_noAllocation
    package func enter() -> Bool {
        let wasTaken = unsafe flags.pointee.isTaken.exchange(true, ordering: .sequentiallyConsistent)
        guard !wasTaken else { return false }
        if unsafe flags.pointee.isOpen.load(ordering: .sequentiallyConsistent) { return true }
        leave()
        return false
    }

    /// Goes out again. Real-time safe.
    @_noLocks @_noAllocation
    package func leave() { unsafe flags.pointee.isTaken.store(false, ordering: .sequentiallyConsistent) }
}
