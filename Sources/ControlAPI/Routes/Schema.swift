package import VoiceDialog

/// What a JSON value is to be: checks one, and describes it in an OpenAPI document, so that the two are the same.
package indirect enum Schema: Sendable {
    case string(ClosedRange<Int>)
    /// Visible ASCII that begins with one of these.
    case prefixed([String], maximum: Int)
    case choice([String])
    case integer(ClosedRange<Int>)
    case boolean
    case object([Field])
    /// In answers alone, which are not checked.
    case answer(JSON)

    /// A member of an object.
    package struct Field: Sendable {
        package var name: String
        package var schema: Schema
        package var isRequired: Bool
        package var summary: String

        package init(_ name: String, _ schema: Schema, isRequired: Bool = false, _ summary: String) {
            (self.name, self.schema, self.isRequired, self.summary) = (name, schema, isRequired, summary)
        }
    }

    /// Throws where the value is another one.
    package func check(_ value: JSON, as name: String? = nil) throws(ControlError) {
        switch self {
        case .string(let range):
            guard case .string(let text) = value, range.contains(text.unicodeScalars.count) else {
                throw .invalid(name, "is to be a text of \(range.lowerBound) to \(range.upperBound) characters")
            }
        case .prefixed(let prefixes, let maximum):
            guard case .string(let text) = value, text.utf8.count <= maximum,
                prefixes.contains(where: { text.hasPrefix($0) && text.utf8.count > $0.utf8.count }),
                text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else {
                throw .invalid(
                    name, "is to begin with \(prefixes.joined(separator: " or ")), \(maximum) characters at most")
            }
        case .choice(let names):
            guard case .string(let text) = value, names.contains(text) else {
                throw .invalid(name, "is to be one of \(names.joined(separator: ", "))")
            }
        case .integer(let range):
            guard let number = value.number, let integer = Int(exactly: number), range.contains(integer) else {
                throw .invalid(name, "is to be an integer from \(range.lowerBound) to \(range.upperBound)")
            }
        case .boolean: guard value.bool != nil else { throw .invalid(name, "is to be true or false") }
        case .object(let fields):
            guard case .object(let members) = value else { throw .invalid(name, "the body is to be an object") }
            for member in members.keys.sorted() where !fields.contains(where: { $0.name == member }) {
                throw .invalid(String(member.prefix(64)), "is unknown here")
            }
            for field in fields {
                guard let member = members[field.name] else {
                    guard !field.isRequired else { throw .invalid(field.name, "is missing") }
                    continue
                }
                try field.schema.check(member, as: field.name)
            }
        case .answer: break
        }
    }

    /// As JSON Schema has it.
    package var json: JSON {
        switch self {
        case .string(let range):
            ["type": "string", "minLength": .integer(range.lowerBound), "maxLength": .integer(range.upperBound)]
        case .prefixed(let prefixes, let maximum):
            [
                "type": "string", "maxLength": .integer(maximum),
                "pattern": .string("^(\(prefixes.joined(separator: "|")))[!-~]+$"),
            ]
        case .choice(let names): ["type": "string", "enum": .array(names.map(JSON.string))]
        case .integer(let range):
            ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
        case .boolean: ["type": "boolean"]
        case .object(let fields): Self.object(fields)
        case .answer(let json): json
        }
    }

    private static func object(_ fields: [Field]) -> JSON {
        var properties: [String: JSON] = [:]
        for field in fields {
            guard case .object(var members) = field.schema.json else { continue }
            members["description"] = .string(field.summary)
            properties[field.name] = .object(members)
        }
        let required = fields.filter(\.isRequired).map { JSON.string($0.name) }
        var members: [String: JSON] = [
            "type": "object", "additionalProperties": .bool(false), "properties": .object(properties),
        ]
        if !required.isEmpty { members["required"] = .array(required) }
        return .object(members)
    }
}
