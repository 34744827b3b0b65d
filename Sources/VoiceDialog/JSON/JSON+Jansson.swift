internal import CJansson

/// How large a JSON text may be. The parser's memory is at most some 40 times the bytes.
package struct JSONLimits: Equatable, Sendable {
    /// Of the whole text.
    package var bytes: Int
    /// Arrays and objects inside each other.
    package var depth: Int
    /// Values in all.
    package var values: Int

    package init(bytes: Int = 1 << 20, depth: Int = 32, values: Int = 20_000) {
        self.bytes = bytes
        self.depth = depth
        self.values = values
    }
}

/// Why a JSON text is not taken.
package enum JSONFault: Error, Equatable, Sendable {
    /// It is longer, deeper or has more values than the limits allow.
    case tooLarge
    /// It is no JSON: what the parser says.
    case malformed(String)
}

extension JSON {
    /// Parses a whole text; an object's member that comes twice is a fault.
    package init(parsing text: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONFault) {
        guard text.count <= limits.bytes else { throw .tooLarge }
        var error = json_error_t()
        // Values other than arrays and objects are allowed at the top, and U+0000 inside strings.
        let flags = Int(JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL)
        let root = unsafe text.withUnsafeBufferPointer { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
                unsafe json_loadb(characters.baseAddress, characters.count, flags, &error)
            }
        }
        guard let root = unsafe root else {
            let reason = unsafe withUnsafeBytes(of: error.text) { unsafe Array($0) }
            throw .malformed(String(decoding: reason.prefix { $0 != 0 }, as: UTF8.self))
        }
        defer { unsafe json_decref(root) }
        var valuesLeft = limits.values
        self = unsafe try JSON(root, depthLeft: limits.depth, &valuesLeft)
    }

    private init(
        _ value: UnsafeMutablePointer<json_t>, depthLeft: Int, _ valuesLeft: inout Int
    ) throws(JSONFault) {
        valuesLeft -= 1
        guard valuesLeft >= 0, depthLeft >= 0 else { throw .tooLarge }
        switch unsafe value.pointee.type {
        case JSON_OBJECT:
            var members: [String: JSON] = [:]
            var place = unsafe json_object_iter(value)
            while let here = unsafe place {
                guard let key = unsafe json_object_iter_key(here), let member = unsafe json_object_iter_value(here)
                else { break }
                members[unsafe String(cString: key)] =
                    unsafe try JSON(member, depthLeft: depthLeft - 1, &valuesLeft)
                unsafe place = json_object_iter_next(value, here)
            }
            self = .object(members)
        case JSON_ARRAY:
            var elements: [JSON] = []
            for index in 0..<(unsafe json_array_size(value)) {
                guard let element = unsafe json_array_get(value, index) else { break }
                elements.append(unsafe try JSON(element, depthLeft: depthLeft - 1, &valuesLeft))
            }
            self = .array(elements)
        case JSON_STRING:
            let bytes = unsafe UnsafeRawBufferPointer(
                start: json_string_value(value), count: json_string_length(value))
            self = .string(unsafe String(decoding: bytes, as: UTF8.self))
        case JSON_INTEGER: self = .integer(Int(unsafe json_integer_value(value)))
        case JSON_REAL: self = .number(unsafe json_real_value(value))
        case JSON_TRUE: self = .bool(true)
        case JSON_FALSE: self = .bool(false)
        default: self = .null
        }
    }

    /// The text, compact, keys in order. Numbers that JSON does not have (infinities) become null.
    package var encoded: [UInt8] {
        guard let tree = unsafe makeTree() else { return [] }
        defer { unsafe json_decref(tree) }
        let flags = Int(JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY)
        let count = unsafe json_dumpb(tree, nil, 0, flags)
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, written in
            unsafe bytes.withMemoryRebound(to: CChar.self) {
                written = unsafe json_dumpb(tree, $0.baseAddress, $0.count, flags)
            }
        }
    }

    private func makeTree() -> UnsafeMutablePointer<json_t>? {
        switch self {
        case .null: return unsafe json_null()
        case .bool(let value): return unsafe value ? json_true() : json_false()
        case .integer(let value): return unsafe json_integer(json_int_t(value))
        case .number(let value): return unsafe value.isFinite ? json_real(value) : json_null()
        case .string(var value):
            return value.withUTF8 { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe json_stringn($0.baseAddress, $0.count) }
            }
        case .array(let elements):
            let array = unsafe json_array()
            for element in elements { _ = unsafe json_array_append_new(array, element.makeTree()) }
            return unsafe array
        case .object(let members):
            let object = unsafe json_object()
            for (key, member) in members { _ = unsafe json_object_set_new(object, key, member.makeTree()) }
            return unsafe object
        }
    }
}
