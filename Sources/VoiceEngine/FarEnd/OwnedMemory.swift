/// A value at an address that stays, for as long as its owner lives.
///
/// Real-time code may not count references: it is given the pointer, and whoever gave it keeps the owner alive until
/// the real-time code has let go.
@safe
struct OwnedMemory<Value: ~Copyable>: ~Copyable {
    let pointer: UnsafeMutablePointer<Value>

    init(_ value: consuming Value) {
        unsafe pointer = .allocate(capacity: 1)
        unsafe pointer.initialize(to: value)
    }

    deinit {
        unsafe pointer.deinitialize(count: 1)
        unsafe pointer.deallocate()
    }
}
