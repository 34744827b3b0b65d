/// Elements ordered by time; those of equal time leave in the order they came. A binary heap.
struct TimedQueue<Element> {
    struct Entry {
        let time: Duration
        let order: UInt64
        let element: Element

        func precedes(_ other: Entry) -> Bool {
            time == other.time ? order < other.order : time < other.time
        }
    }

    private var heap: [Entry] = []
    private var nextOrder: UInt64 = 0

    var count: Int { heap.count }
    var first: Entry? { heap.first }

    /// Returns the number that tells this entry from all others.
    @discardableResult
    mutating func insert(_ element: Element, at time: Duration) -> UInt64 {
        defer { nextOrder += 1 }
        heap.append(Entry(time: time, order: nextOrder, element: element))
        rise(from: heap.count - 1)
        return nextOrder
    }

    /// The earliest entry, when it is due at `now` or before.
    mutating func popFirst(dueBy now: Duration) -> Entry? {
        guard let first = heap.first, first.time <= now else { return nil }
        remove(at: 0)
        return first
    }

    /// Takes out the entry of that number; nil when it has left already. Linear in the queue's length.
    mutating func remove(order: UInt64) -> Entry? {
        guard let index = heap.firstIndex(where: { $0.order == order }) else { return nil }
        let entry = heap[index]
        remove(at: index)
        return entry
    }

    private mutating func remove(at index: Int) {
        let last = heap.count - 1
        heap.swapAt(index, last)
        heap.removeLast()
        guard index < last else { return }
        rise(from: index)
        sink(from: index)
    }

    private mutating func rise(from start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].precedes(heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func sink(from start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].precedes(heap[least]) {
                least = child
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}

extension TimedQueue: Sendable where Element: Sendable {}
extension TimedQueue.Entry: Sendable where Element: Sendable {}
