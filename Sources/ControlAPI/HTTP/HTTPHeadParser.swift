/// Why a request is not taken: the status that answers it.
package struct HTTPFault: Error, Equatable, Sendable {
    package var status: Int
    package var message: String
}

/// Reads the head of a request, strictly: what RFC 9112 leaves open to a lenient reader is refused.
///
/// Work and memory are linear in the bytes given, and bounded by ``limit``.
package struct HTTPHeadParser: Sendable {
    /// Of the head, bytes.
    package static let limit = 16 << 10
    /// Of the request's target, bytes.
    package static let targetLimit = 2_048
    package static let headerLimit = 64
    /// Header fields that may come only once.
    private static let single: Set<String> = [
        "host", "content-length", "authorization", "content-type", "origin", "transfer-encoding", "expect",
    ]

    private var bytes: [UInt8] = []
    /// Up to here no end was found.
    private var searched = 0

    package init() {}

    /// Whether a request has begun.
    package var hasBegun: Bool { !bytes.isEmpty }

    /// Takes bytes from the front of `input`; the head where it is whole, and then `input` begins with the body.
    package mutating func take(_ input: inout ArraySlice<UInt8>) throws(HTTPFault) -> HTTPHead? {
        // A line that is empty before a request is skipped (section 2.2).
        while bytes.isEmpty, input.first == 0x0D || input.first == 0x0A { input.removeFirst() }
        let before = bytes.count
        bytes += input.prefix(Self.limit + 1 - before)
        guard let end = endOfHead() else {
            guard bytes.count <= Self.limit else {
                throw HTTPFault(status: 431, message: "the request's head is longer than \(Self.limit) bytes")
            }
            input = input[input.endIndex...]
            return nil
        }
        input = input.dropFirst(end - before)
        let head = bytes[..<(end - 4)]
        defer { (bytes, searched) = ([], 0) }
        return try Self.head(head)
    }

    private mutating func endOfHead() -> Int? {
        var index = searched
        while index + 4 <= bytes.count {
            if bytes[index] == 0x0D, bytes[index + 1] == 0x0A, bytes[index + 2] == 0x0D, bytes[index + 3] == 0x0A {
                return index + 4
            }
            index += 1
        }
        searched = index
        return nil
    }

    private static func head(_ bytes: ArraySlice<UInt8>) throws(HTTPFault) -> HTTPHead {
        var lines = try lines(of: bytes)
        let (line, isFirstVersion) = try requestLine(lines.removeFirst())
        var head = line
        guard lines.count <= headerLimit else {
            throw HTTPFault(status: 431, message: "the request has more than \(headerLimit) header fields")
        }
        for line in lines {
            let (name, value) = try field(line)
            if let other = head.headers[name] {
                guard !single.contains(name) else { throw bad("the header field '\(name)' comes twice") }
                head.headers[name] = "\(other), \(value)"
            } else {
                head.headers[name] = value
            }
        }
        guard isFirstVersion || head.headers["host"] != nil else { throw bad("there is no header field 'host'") }
        guard head.headers["transfer-encoding"] == nil else {
            throw HTTPFault(status: 411, message: "send the body with a content-length, not in chunks")
        }
        if let length = head.headers["content-length"] {
            guard !length.isEmpty, length.utf8.count <= 12, length.utf8.allSatisfy({ 48...57 ~= $0 }),
                let count = Int(length)
            else { throw bad("the content-length is no number") }
            head.contentLength = count
        }
        let options = (head.headers["connection"] ?? "").lowercased().split(separator: ",").map(HTTPHead.trimmed)
        head.keepsAlive = isFirstVersion ? options.contains("keep-alive") : !options.contains("close")
        if let expectation = head.headers["expect"] {
            guard expectation.lowercased() == "100-continue" else {
                throw HTTPFault(status: 417, message: "nothing but 100-continue can be expected")
            }
            head.expectsContinue = true
        }
        return head
    }

    private static func lines(of bytes: ArraySlice<UInt8>) throws(HTTPFault) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = bytes.startIndex
        var index = start
        while index < bytes.endIndex {
            if bytes[index] == 0x0D, index + 1 < bytes.endIndex, bytes[index + 1] == 0x0A {
                lines.append(bytes[start..<index])
                start = index + 2
                index += 1
            } else if bytes[index] == 0x0D || bytes[index] == 0x0A || bytes[index] == 0 {
                throw bad("a line ends with CR and LF")
            }
            index += 1
        }
        lines.append(bytes[start...])
        return lines
    }

    private static func requestLine(_ line: ArraySlice<UInt8>) throws(HTTPFault) -> (HTTPHead, isFirst: Bool) {
        let parts = line.split(separator: 0x20, maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, (1...16).contains(parts[0].count), parts[0].allSatisfy(isToken) else {
            throw bad("a request begins with a method, a target and a version")
        }
        let version = parts[2]
        guard version.elementsEqual("HTTP/1.1".utf8) || version.elementsEqual("HTTP/1.0".utf8) else {
            throw HTTPFault(status: 505, message: "the version is not HTTP/1.1")
        }
        guard parts[1].count <= targetLimit else {
            throw HTTPFault(status: 414, message: "the target is longer than \(targetLimit) bytes")
        }
        guard parts[1].first == UInt8(ascii: "/"), parts[1].allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw bad("the target is a path of visible ASCII")
        }
        let target = parts[1].split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        var head = HTTPHead(method: text(parts[0]), path: text(target[0]))
        if target.count == 2 {
            for pair in target[1].split(separator: UInt8(ascii: "&")) {
                let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                let name = text(sides[0])
                guard head.query[name] == nil else { throw bad("a parameter comes twice in the query") }
                head.query[name] = sides.count == 2 ? text(sides[1]) : ""
            }
        }
        return (head, version.last == UInt8(ascii: "0"))
    }

    private static func field(_ line: ArraySlice<UInt8>) throws(HTTPFault) -> (String, String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(isToken)
        else { throw bad("a header field is a name, a colon and a value") }
        let value = line[(colon + 1)...]
        guard value.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
            throw bad("a header field's value has control characters")
        }
        return (text(line[..<colon]).lowercased(), HTTPHead.trimmed(text(value)))
    }

    /// RFC 9110, section 5.6.2.
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func bad(_ message: String) -> HTTPFault { HTTPFault(status: 400, message: message) }
}
