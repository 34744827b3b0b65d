/// A field of a node, or what an event carries.
public enum GraphValue: Equatable, Sendable {
    /// `true` or `false`.
    case bool(Bool)
    /// A number without a fraction.
    case integer(Int)
    /// Any other number.
    case number(Double)
    /// A string.
    case text(String)

    /// A number, also where it is an integer.
    public var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// An integer, also where it is a whole number.
    public var integer: Int? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int(exactly: value)
        default: nil
        }
    }

    /// A text.
    public var text: String? { if case .text(let value) = self { value } else { nil } }

    /// A truth value.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
}

extension GraphValue: CustomStringConvertible {
    /// As JSON would have it, without escapes.
    public var description: String {
        switch self {
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .text(let value): "'\(value)'"
        }
    }
}
