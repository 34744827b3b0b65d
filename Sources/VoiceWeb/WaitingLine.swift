/// First in, first out, in a time that does not grow with how many wait.
struct WaitingLine<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var isEmpty: Bool { head == elements.count }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func takeFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head].take()
        head += 1
        // What moves is less than what was taken since.
        if 2 * head >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }
}
