/// The smallest value of any run of slots in a ring: a tournament tree.
///
/// The leaves are the slots; every other node holds the smaller of its two children. Changing a slot and asking for a
/// run each visit a number of nodes that grows with the logarithm of the ring alone.
@safe struct RangeMinimum: ~Copyable {
    /// Slots, a power of two.
    let capacity: Int
    /// Nodes visited so far.
    private(set) var visits = 0
    /// Node 1 is the root, the children of node `n` are `2n` and `2n + 1`, and slot `s` is the leaf `capacity + s`.
    private let nodes: UnsafeMutablePointer<Int64>

    /// What a slot holds that is left out of every minimum.
    static let nothing = Int64.max

    init(capacity: Int) {
        precondition(capacity > 0 && capacity & (capacity - 1) == 0)
        self.capacity = capacity
        unsafe nodes = .allocate(capacity: 2 * capacity)
        unsafe nodes.initialize(repeating: Self.nothing, count: 2 * capacity)
    }

    deinit { unsafe nodes.deallocate() }

    /// Puts a value into a slot.
    mutating func set(_ slot: Int, _ value: Int64) {
        precondition(slot >= 0 && slot < capacity)
        var node = capacity + slot
        unsafe nodes[node] = value
        visits += 1
        while node > 1 {
            node /= 2
            visits += 1
            let smaller = unsafe min(nodes[2 * node], nodes[2 * node + 1])
            // What is above does not change either.
            if unsafe nodes[node] == smaller { return }
            unsafe nodes[node] = smaller
        }
    }

    /// The smallest value of the slots from `first` through `last`, across the end of the ring where `last` lies before
    /// `first`.
    mutating func minimum(from first: Int, through last: Int) -> Int64 {
        precondition(first >= 0 && first < capacity && last >= 0 && last < capacity)
        if first <= last { return subtrees(first, last) }
        return min(subtrees(first, capacity - 1), subtrees(0, last))
    }

    /// The smallest of the subtrees that cover the leaves exactly, from the bottom up.
    private mutating func subtrees(_ first: Int, _ last: Int) -> Int64 {
        var (left, right) = (capacity + first, capacity + last + 1)
        var smallest = Self.nothing
        while left < right {
            visits += 2
            if left & 1 == 1 {
                smallest = unsafe min(smallest, nodes[left])
                left += 1
            }
            if right & 1 == 1 {
                right -= 1
                smallest = unsafe min(smallest, nodes[right])
            }
            (left, right) = (left / 2, right / 2)
        }
        return smallest
    }
}
