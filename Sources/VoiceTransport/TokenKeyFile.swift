/// Why a key file says nothing. Lines count from 1. Nothing of a line is repeated, since it may be a secret.
public enum TokenKeyFileError: Error, Equatable, Sendable {
    /// No `name: secret`: no colon, no name or secret, white space or quotes in them, or bytes that are no visible
    /// ASCII.
    case malformed(line: Int)
    /// The secret is shorter than ``TokenKey/minimumSecretSize``.
    case secretTooShort(line: Int)
    /// Two lines have one name.
    case repeatedName(line: Int)
    /// There is no key in it.
    case noKeys
    /// More than ``TokenKeyFile/sizeLimit`` bytes or ``TokenKeyFile/keyLimit`` keys.
    case tooLong
}

/// A file with several keys, as LiveKit's: a line `name: secret` for each; blank lines and lines that begin with `#`
/// are passed over.
///
/// Secrets are taken as they stand: no quotes, no escapes, nothing behind them.
public enum TokenKeyFile {
    /// Bytes at most.
    public static let sizeLimit = 65_536
    /// Keys at most: more than any rotation needs.
    public static let keyLimit = 64
    /// Bytes of a name at most.
    public static let nameLimit = 128

    /// Reads the keys of a file's bytes, in its order. Any thread.
    public static func keys(in bytes: [UInt8]) throws(TokenKeyFileError) -> [TokenKey] {
        guard bytes.count <= sizeLimit else { throw .tooLong }
        var keys: [TokenKey] = []
        var names: Set<String> = []
        var number = 0
        for line in bytes.split(separator: newline, omittingEmptySubsequences: false) {
            number += 1
            guard let (name, secret) = try pair(trimmed(line), line: number) else { continue }
            guard names.insert(name).inserted else { throw .repeatedName(line: number) }
            guard keys.count < keyLimit else { throw .tooLong }
            do { keys.append(try TokenKey(name: name, secret: secret)) } catch { throw .secretTooShort(line: number) }
        }
        guard !keys.isEmpty else { throw .noKeys }
        return keys
    }

    private static let newline = UInt8(ascii: "\n")
    private static let quotes = Array("\"'`".utf8)

    /// Name and secret of a line; nil of one that is blank or a comment.
    private static func pair(
        _ line: ArraySlice<UInt8>, line number: Int
    ) throws(TokenKeyFileError) -> (String, [UInt8])? {
        guard let first = line.first, first != UInt8(ascii: "#") else { return nil }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .malformed(line: number) }
        let (name, secret) = (trimmed(line[..<colon]), trimmed(line[(colon + 1)...]))
        guard isWord(name), isWord(secret), name.count <= nameLimit else { throw .malformed(line: number) }
        return (String(decoding: name, as: UTF8.self), Array(secret))
    }

    /// Visible ASCII without quotes: a secret in quotes is one that another reader takes without them.
    private static func isWord(_ text: ArraySlice<UInt8>) -> Bool {
        !text.isEmpty && text.allSatisfy { 0x21...0x7E ~= $0 && !quotes.contains($0) }
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
        let start = text.drop(while: isSpace)
        guard let last = start.lastIndex(where: { !isSpace($0) }) else { return [] }
        return start[...last]
    }
}
