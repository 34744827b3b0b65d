extension Array {
    /// A copy of the span, for comparisons in expectations.
    init(_ span: Span<Element>) where Element == UInt8 {
        self = span.indices.map { span[$0] }
    }
}

/// A copy of the span when there is one, for comparisons in expectations.
func copy(_ span: Span<UInt8>?) -> [UInt8]? {
    guard let span else { return nil }
    return [UInt8](span)
}
