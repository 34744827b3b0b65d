/// Up to `capacity` elements in a value of fixed size, which can go through a triple buffer. Allocates nothing.
struct FixedTable<let capacity: Int, Element: BitwiseCopyable & Sendable>: BitwiseCopyable, Sendable {
    private(set) var count = 0
    private var entries: InlineArray<capacity, Element>

    /// An empty table; `unused` stands where there is no element.
    init(unused: Element) { entries = InlineArray(repeating: unused) }

    /// Adds an element; one too many is left out.
    mutating func append(_ element: Element) {
        guard count < capacity else { return }
        entries[count] = element
        count += 1
    }

    subscript(index: Int) -> Element { entries[index] }
}
