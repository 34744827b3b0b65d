internal import CDuplexVoice

/// Reads an array of C's whose elements have names: what a configuration and a call bring.
///
/// - Parameters:
///   - start: where C says that it begins.
///   - count: how many C says that there are; a `size_t`, so that a huge one is negative here.
///   - field: what C calls it.
///   - limit: how many there may be.
///   - name: the element's name.
///   - body: called with each element, in C's order.
/// - Throws: ``Failure``, where there are too many or none, a name is missing or no UTF-8, or `body` throws.
func forEachNamed<Element>(
    _ start: UnsafePointer<Element>?, _ count: Int, of field: String, limit: Int,
    name: (Element) -> UnsafePointer<CChar>?, _ body: (String, Element) throws(Failure) -> Void
) throws(Failure) {
    guard count != 0 else { return }
    guard let start = unsafe start else {
        throw .argument("\(field) is null and its count \(UInt(bitPattern: count)); give both or neither")
    }
    guard (1...limit).contains(count) else {
        throw .argument("\(field) has \(UInt(bitPattern: count)) elements; give up to \(limit)")
    }
    for index in 0..<count {
        guard let given = try unsafe text(name(start[index]), "\(field)[\(index)].name"), !given.isEmpty else {
            throw .argument("\(field)[\(index)] has no name; give it one")
        }
        try unsafe body(given, start[index])
    }
}
