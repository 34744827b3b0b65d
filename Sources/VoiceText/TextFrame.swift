/// One edit of a text, as it travels; ``TextFormat`` has the layout.
struct TextFrame: Equatable, Sendable {
    var name: [UInt8]
    var round: UInt32
    var sequence: UInt32
    var keep: Int
    var bytes: [UInt8]
    /// nil where more frames complete this state of the text.
    var completion: Completion?

    struct Completion: Equatable, Sendable {
        var check: UInt32
        var isFinal: Bool
        var extras: [UInt8]
    }

    private static let finalFlag: UInt8 = 1
    private static let moreFlag: UInt8 = 2

    var encoded: [UInt8] {
        let extras = completion?.extras ?? []
        var out: [UInt8] = []
        out.reserveCapacity(TextFormat.fixedBytes + name.count + extras.count + bytes.count)
        out.append((completion == nil ? Self.moreFlag : 0) | (completion?.isFinal == true ? Self.finalFlag : 0))
        out.append(UInt8(name.count))
        out += name
        out.append(bigEndian: round)
        out.append(bigEndian: sequence)
        out.append(bigEndian: UInt32(keep))
        out.append(bigEndian: completion?.check ?? 0)
        out += [UInt8(extras.count >> 8), UInt8(extras.count & 0xFF)]
        out += extras
        out += bytes
        return out
    }

    init(name: [UInt8], round: UInt32, sequence: UInt32, keep: Int, bytes: [UInt8], completion: Completion?) {
        self.name = name
        self.round = round
        self.sequence = sequence
        self.keep = keep
        self.bytes = bytes
        self.completion = completion
    }

    /// nil where the bytes are no frame.
    init?(_ encoded: [UInt8]) {
        var rest = encoded[...]
        guard let flags = rest.popFirst(), flags & ~(Self.finalFlag | Self.moreFlag) == 0,
            let name = rest.takeName(), let round = rest.takeUInt32(), let sequence = rest.takeUInt32(),
            let keep = rest.takeUInt32(), let check = rest.takeUInt32(), let high = rest.popFirst(),
            let low = rest.popFirst(), keep <= TextFormat.textLimit
        else { return nil }
        let extras = Int(high) << 8 | Int(low)
        guard extras <= min(TextFormat.extrasLimit, rest.count), Int(keep) + rest.count - extras <= TextFormat.textLimit
        else { return nil }
        self.init(
            name: name, round: round, sequence: sequence, keep: Int(keep), bytes: [UInt8](rest.dropFirst(extras)),
            completion: nil)
        if flags & Self.moreFlag == 0 {
            completion = Completion(
                check: check, isFinal: flags & Self.finalFlag != 0, extras: [UInt8](rest.prefix(extras)))
        } else if extras != 0 || check != 0 || flags & Self.finalFlag != 0 {
            return nil
        }
    }
}

/// A reader's wish to be sent a text whole: its stream's name, preceded by its length.
struct TextRequest: Equatable, Sendable {
    var name: [UInt8]

    var encoded: [UInt8] { [UInt8(name.count)] + name }

    init(name: [UInt8]) { self.name = name }

    /// nil where the bytes are no request.
    init?(_ encoded: [UInt8]) {
        var rest = encoded[...]
        guard let name = rest.takeName(), rest.isEmpty else { return nil }
        self.init(name: name)
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian value: UInt32) {
        self += [UInt8(value >> 24), UInt8(value >> 16 & 0xFF), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)]
    }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func takeUInt32() -> UInt32? {
        guard count >= 4 else { return nil }
        defer { removeFirst(4) }
        return prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// A length, and so many bytes of UTF-8.
    fileprivate mutating func takeName() -> [UInt8]? {
        guard let length = popFirst().map(Int.init), 1...TextFormat.nameLimit ~= length, count >= length,
            String(validating: prefix(length), as: UTF8.self) != nil
        else { return nil }
        defer { removeFirst(length) }
        return Array(prefix(length))
    }
}
