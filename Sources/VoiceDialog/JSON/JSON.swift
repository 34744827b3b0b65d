/// A JSON value (RFC 8259).
package enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// The member of an object; nil where it is absent, or null, or this is no object.
    package subscript(_ key: String) -> JSON? {
        guard case .object(let members) = self, let member = members[key], member != .null else { return nil }
        return member
    }

    package var string: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }

    /// As much of a stranger's text as is told of it: so many scalars, since one character may have any number of them.
    func told(_ limit: Int) -> String? {
        string.map { String(String.UnicodeScalarView($0.unicodeScalars.prefix(limit))) }
    }

    package var integer: Int? {
        guard case .integer(let value) = self else { return nil }
        return value
    }

    /// Also that of an integer.
    package var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    package var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    package var array: [JSON]? {
        guard case .array(let values) = self else { return nil }
        return values
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}
