/// Values as JSON text (RFC 8259) in one line: keys sorted, what is unknown left out, each number in the fewest digits
/// that give it back. A number that JSON does not have (an infinity, NaN) is an error.
enum JSONText {
    /// How the names of properties become keys. Keys of dictionaries stay as they are.
    enum Keys {
        case declared
        /// `delayP50Ms` becomes `delay_p50_ms`.
        case snakeCase
    }

    static func encode(_ value: some Encodable, keys: Keys = .declared) throws -> String {
        let root = JSONNode()
        try JSONNodeEncoder(node: root, keys: keys, codingPath: []).encode(value)
        var text = ""
        root.write(to: &text)
        return text
    }

    /// A word begins with a capital after a small letter or a digit, or with the last of several capitals.
    static func snakeCase(_ name: String) -> String {
        let letters = Array(name)
        var key = ""
        for (index, letter) in letters.enumerated() {
            if letter.isUppercase, index > 0 {
                let isAfterCapital = letters[index - 1].isUppercase
                let isBeforeSmall = index + 1 < letters.count && letters[index + 1].isLowercase
                if !isAfterCapital || isBeforeSmall { key += "_" }
            }
            key += letter.lowercased()
        }
        return key
    }

    /// A string in quotes.
    fileprivate static func quoted(_ string: String) -> String {
        var text = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}

/// A value that is being encoded.
private final class JSONNode {
    enum Content {
        case absent
        /// A number, a quoted string, `true`, `false` or `null`.
        case literal(String)
        case object([String: JSONNode])
        case array([JSONNode])
    }

    var content = Content.absent

    func member(_ key: String) -> JSONNode {
        let node = JSONNode()
        guard case .object(var members) = content else {
            content = .object([key: node])
            return node
        }
        content = .absent
        members[key] = node
        content = .object(members)
        return node
    }

    func element() -> JSONNode {
        let node = JSONNode()
        guard case .array(var elements) = content else {
            content = .array([node])
            return node
        }
        content = .absent
        elements.append(node)
        content = .array(elements)
        return node
    }

    func write(to text: inout String) {
        switch content {
        case .absent: text += "{}"
        case .literal(let literal): text += literal
        case .object(let members):
            text += "{"
            for (index, (key, node)) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                text += (index == 0 ? "" : ",") + JSONText.quoted(key) + ":"
                node.write(to: &text)
            }
            text += "}"
        case .array(let elements):
            text += "["
            for (index, node) in elements.enumerated() {
                if index > 0 { text += "," }
                node.write(to: &text)
            }
            text += "]"
        }
    }
}

/// Encodes one value into its node.
private struct JSONNodeEncoder: Encoder, SingleValueEncodingContainer {
    let node: JSONNode
    let keys: JSONText.Keys
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .absent = node.content { node.content = .object([:]) }
        return KeyedEncodingContainer(JSONMembers(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .absent = node.content { node.content = .array([]) }
        return JSONElements(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { node.content = .literal("null") }

    func encode<Value: Encodable>(_ value: Value) throws {
        switch value {
        case let value as Bool: node.content = .literal("\(value)")
        case let value as String: node.content = .literal(JSONText.quoted(value))
        case let value as Double: try encode(number: value, shown: "\(value)")
        case let value as Float: try encode(number: Double(value), shown: "\(value)")
        case let value as any BinaryInteger: node.content = .literal("\(value)")
        case let value as any NamedValues: try value.encodeValues(to: self)
        default: try value.encode(to: self)
        }
    }

    private func encode(number: Double, shown: String) throws {
        guard number.isFinite else {
            let context = EncodingError.Context(codingPath: codingPath, debugDescription: "JSON has no \(shown)")
            throw EncodingError.invalidValue(number, context)
        }
        node.content = .literal(shown.hasSuffix(".0") ? String(shown.dropLast(2)) : shown)
    }

    func inside(_ node: JSONNode, _ key: (any CodingKey)? = nil) -> JSONNodeEncoder {
        JSONNodeEncoder(node: node, keys: keys, codingPath: codingPath + [key].compactMap(\.self))
    }
}

private struct JSONMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: JSONNodeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    private func member(_ key: any CodingKey) -> JSONNodeEncoder {
        let name = encoder.keys == .snakeCase ? JSONText.snakeCase(key.stringValue) : key.stringValue
        return encoder.inside(encoder.node.member(name), key)
    }

    func encodeNil(forKey key: Key) { member(key).encodeNil() }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try member(key).encode(value) }
    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        member(key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { member(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder.inside(encoder.node.member("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { member(key) }
}

private struct JSONElements: UnkeyedEncodingContainer {
    let encoder: JSONNodeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int {
        guard case .array(let elements) = encoder.node.content else { return 0 }
        return elements.count
    }

    private func element() -> JSONNodeEncoder { encoder.inside(encoder.node.element()) }

    func encodeNil() { element().encodeNil() }
    func encode<Value: Encodable>(_ value: Value) throws { try element().encode(value) }
    func nestedContainer<Nested>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        element().container(keyedBy: type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }
    func superEncoder() -> any Encoder { element() }
}

/// A dictionary by name, whose keys are data.
private protocol NamedValues {
    func encodeValues(to encoder: JSONNodeEncoder) throws
}

extension Dictionary: NamedValues where Key == String, Value: Encodable {
    fileprivate func encodeValues(to encoder: JSONNodeEncoder) throws {
        encoder.node.content = .object([:])
        for (key, value) in self { try encoder.inside(encoder.node.member(key)).encode(value) }
    }
}
