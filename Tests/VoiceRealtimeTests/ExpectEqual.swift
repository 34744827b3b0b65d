import Testing

/// `#expect` takes the expression apart, which a mutating call on a ~Copyable value does not allow; this compares
/// values already computed.
func expectEqual<Value: Equatable>(
    _ actual: Value, _ expected: Value, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(actual == expected, comment(), sourceLocation: sourceLocation)
}
