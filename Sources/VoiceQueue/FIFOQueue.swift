/// First in, first out, in a time that does not grow with how many wait. Unbounded: whoever appends sees to it that
/// there are not too many.
package struct FIFOQueue<Element> {
    private var elements: [Element?] = []
    private var head = 0

    package init() {}

    /// How many wait.
    package var count: Int { elements.count - head }

    /// Whether nothing waits.
    package var isEmpty: Bool { head == elements.count }

    /// The one that has waited longest.
    package var first: Element? { isEmpty ? nil : elements[head] }

    /// Adds one behind all others.
    package mutating func append(_ element: Element) { elements.append(element) }

    /// Takes the one that has waited longest; nil where there is none.
    package mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head].take()
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if 2 * head >= elements.count {
            // What moves is less than what was taken since.
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Takes out all for which `wanted` holds, in order. Looks at every one.
    package mutating func takeAll(where wanted: (Element) -> Bool) -> [Element] {
        let all = elements[head...].compactMap { $0 }
        elements = all.filter { !wanted($0) }
        head = 0
        return all.filter(wanted)
    }
}

extension FIFOQueue: Sendable where Element: Sendable {}
