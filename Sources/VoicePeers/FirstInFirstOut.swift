/// A queue whose front is taken at constant cost, whatever stands behind it.
package struct FirstInFirstOut<Element: Sendable>: Sendable {
    /// Taken places are given back in lots of this or of half the queue, whichever is more.
    private static var lot: Int { 64 }

    private var elements: [Element?] = []
    private var taken = 0

    package init() {}

    package var count: Int { elements.count - taken }
    package var isEmpty: Bool { count == 0 }
    /// The front.
    package var first: Element? { isEmpty ? nil : elements[taken] }

    package mutating func append(_ element: Element) { elements.append(element) }

    package mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer { compact() }
        taken += 1
        return elements[taken - 1].take()
    }

    /// Takes out all for which `wanted` holds, in order. Looks at every one.
    package mutating func takeAll(where wanted: (Element) -> Bool) -> [Element] {
        let all = elements[taken...].compactMap { $0 }
        elements = all.filter { !wanted($0) }
        taken = 0
        return all.filter(wanted)
    }

    private mutating func compact() {
        guard taken >= Self.lot, taken * 2 >= elements.count else { return }
        elements.removeFirst(taken)
        taken = 0
    }
}
