/// What a participant tells of itself in a room, as pairs of a key and a value: an agent its state, a person that a
/// hand is raised. Everybody in the room knows them, whoever comes later too.
///
/// Bounded: at most ``countLimit`` pairs, a key of 1 to ``keyLimit`` bytes of UTF-8, and ``byteLimit`` bytes of keys
/// and values altogether.
public struct ParticipantAttributes: Hashable, Sendable {
    /// Pairs at most.
    public static let countLimit = 16
    /// Bytes of UTF-8 in a key, at most.
    public static let keyLimit = 32
    /// Bytes of UTF-8 in all keys and values, at most: a roster entry with them fits into one control datagram.
    public static let byteLimit = 512

    /// The pairs.
    public private(set) var values: [String: String] = [:]

    /// No attributes.
    public init() {}

    /// Attributes with these pairs.
    ///
    /// - Throws: ``RoomSessionError/attributesTooLong`` beyond one of the limits, and where a key is empty.
    public init(_ values: [String: String]) throws(RoomSessionError) {
        let bytes = values.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard values.count <= Self.countLimit, bytes <= Self.byteLimit,
            values.keys.allSatisfy({ (1...Self.keyLimit).contains($0.utf8.count) })
        else { throw .attributesTooLong }
        self.values = values
    }

    /// The value of a key; nil where there is none.
    public subscript(key: String) -> String? { values[key] }

    /// Whether there are none.
    public var isEmpty: Bool { values.isEmpty }

    /// These with another value of a key, or without the key where `value` is nil.
    ///
    /// - Throws: as ``init(_:)``.
    public func setting(_ key: String, to value: String?) throws(RoomSessionError) -> Self {
        var values = values
        values[key] = value
        return try Self(values)
    }
}

extension ParticipantAttributes {
    /// By rising keys, so that equal attributes have equal bytes.
    func write(into writer: inout ByteWriter) {
        let pairs = values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        writer.write(UInt8(pairs.count))
        for (key, value) in pairs {
            writer.write(text: key)
            writer.write(bytes: Array(value.utf8), limit: Self.byteLimit)
        }
    }

    init(from reader: inout ByteReader) throws(RoomProtocolError) {
        let count = Int(try reader.number(UInt8.self))
        guard count <= Self.countLimit else { throw .limitExceeded }
        var pairs: [String: String] = [:]
        for _ in 0..<count {
            let key = try reader.text()
            guard let value = String(validating: try reader.bytes(limit: Self.byteLimit), as: UTF8.self) else {
                throw .invalidText
            }
            guard pairs.updateValue(value, forKey: key) == nil else { throw .invalidValue }
        }
        do throws(RoomSessionError) { try self.init(pairs) } catch { throw .limitExceeded }
    }
}
