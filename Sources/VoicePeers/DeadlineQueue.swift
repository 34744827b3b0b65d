/// Deadlines by key, the earliest first: a binary heap that knows where each key stands. Setting and taking one costs
/// the logarithm of their number.
package struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
    private var heap: [(deadline: Duration, key: Key)] = []
    private var places: [Key: Int] = [:]

    package init() {}

    /// The earliest deadline.
    package var earliest: Duration? { heap.first?.deadline }

    /// Sets a key's deadline, in place of its former one; nil removes it.
    package mutating func set(_ key: Key, to deadline: Duration?) {
        guard let deadline else { return remove(key) }
        guard let place = places[key] else {
            heap.append((deadline, key))
            places[key] = heap.count - 1
            return rise(heap.count - 1)
        }
        let former = heap[place].deadline
        guard deadline != former else { return }
        heap[place].deadline = deadline
        if deadline < former { rise(place) } else { sink(place) }
    }

    /// Takes out the key of the earliest deadline, if that has come.
    package mutating func takeDue(now: Duration) -> Key? {
        guard let first = heap.first, first.deadline <= now else { return nil }
        remove(first.key)
        return first.key
    }

    private mutating func remove(_ key: Key) {
        guard let place = places.removeValue(forKey: key) else { return }
        let last = heap.removeLast()
        guard place < heap.count else { return }
        let removed = heap[place].deadline
        heap[place] = last
        places[last.key] = place
        if last.deadline < removed { rise(place) } else { sink(place) }
    }

    private mutating func rise(_ start: Int) {
        var place = start
        while place > 0, heap[place].deadline < heap[(place - 1) / 2].deadline {
            exchange(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func sink(_ start: Int) {
        var place = start
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2]
            where child < heap.count && heap[child].deadline < heap[least].deadline {
                least = child
            }
            guard least != place else { return }
            exchange(place, least)
            place = least
        }
    }

    private mutating func exchange(_ one: Int, _ other: Int) {
        heap.swapAt(one, other)
        places[heap[one].key] = one
        places[heap[other].key] = other
    }
}
