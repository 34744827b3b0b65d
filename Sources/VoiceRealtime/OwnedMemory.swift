/// A value at an address that stays, for as long as its owner lives. Its owner alone touches it.
///
/// Real-time code may not count references: it is given the pointer, and whoever gave it keeps the owner alive until
/// the real-time code has let go. And state that a class has in itself is checked for exclusive access at run time, in
/// each block; what lies behind this is not.
@safe
package struct OwnedMemory<Value: ~Copyable>: ~Copyable {
    package let pointer: UnsafeMutablePointer<Value>

    @inlinable
    package init(_ value: consuming Value) {
        unsafe pointer = .allocate(capacity: 1)
        unsafe pointer.initialize(to: value)
    }

    deinit {
        unsafe pointer.deinitialize(count: 1)
        unsafe pointer.deallocate()
    }

    /// The value, to be read and changed in place.
    @inlinable
    package var value: Value {
        _read { yield unsafe pointer.pointee }
        nonmutating _modify { yield unsafe &pointer.pointee }
    }
}
