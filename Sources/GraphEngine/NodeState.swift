/// What a node changes in each block, behind a pointer: state that a class has in itself is checked for exclusive access
/// at run time, which costs as much as a small node does. Its one owner alone touches it.
@safe
struct NodeState<State: ~Copyable>: ~Copyable {
    private let memory: UnsafeMutablePointer<State>

    init(_ state: consuming State) {
        unsafe memory = .allocate(capacity: 1)
        unsafe memory.initialize(to: state)
    }

    deinit {
        unsafe memory.deinitialize(count: 1)
        unsafe memory.deallocate()
    }

    /// The state, to be read and changed in place.
    var value: State {
        _read { yield unsafe memory.pointee }
        nonmutating _modify { yield unsafe &memory.pointee }
    }
}
