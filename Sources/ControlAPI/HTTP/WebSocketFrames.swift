/// Why a WebSocket is closed: the status of RFC 6455, section 7.4.1.
package struct WebSocketFault: Error, Equatable, Sendable {
    package var status: UInt16

    package static let protocolError = WebSocketFault(status: 1_002)
    package static let notText = WebSocketFault(status: 1_003)
    package static let notUnicode = WebSocketFault(status: 1_007)
    package static let tooLarge = WebSocketFault(status: 1_009)
}

/// What a client sends.
package enum WebSocketFrame: Equatable, Sendable {
    /// A whole message.
    case text([UInt8])
    case ping([UInt8])
    case pong
    case close

    package enum Opcode: UInt8, Sendable {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10
    }

    /// A frame of a server: whole, and not masked (section 5.1).
    package static func encoded(_ opcode: Opcode, _ payload: [UInt8]) -> [UInt8] {
        let first = 0x80 | opcode.rawValue
        let count = payload.count
        if count < 126 { return [first, UInt8(count)] + payload }
        if count < 65_536 { return [first, 126, UInt8(count >> 8), UInt8(count & 0xFF)] + payload }
        return [first, 127] + (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) } + payload
    }

    package static func encodedClose(_ status: UInt16) -> [UInt8] {
        encoded(.close, [UInt8(status >> 8), UInt8(status & 0xFF)])
    }
}

/// Reads the frames that a client sends (RFC 6455, section 5): text messages, whole or in fragments, and control frames
/// between them.
///
/// Memory is bounded by a message, work by the bytes.
package struct WebSocketReader: Sendable {
    /// Of a message, bytes.
    package static let limit = 64 << 10
    /// Of what belongs to a control frame (section 5.5).
    private static let controlLimit = 125

    private var bytes: [UInt8] = []
    private var message: [UInt8]?

    package init() {}

    /// Takes bytes, in pieces of any length.
    package mutating func take(_ input: ArraySlice<UInt8>) throws(WebSocketFault) -> [WebSocketFrame] {
        bytes += input
        var frames: [WebSocketFrame] = []
        var start = 0
        while let (frame, end) = try next(from: start) {
            start = end
            if let frame { frames.append(frame) }
            if frame == .close { break }
        }
        bytes.removeFirst(start)
        return frames
    }

    /// The frame that begins there, nil where it is the beginning or the middle of a message; and where the next one
    /// begins. Nil where it is not whole.
    private mutating func next(from start: Int) throws(WebSocketFault) -> (WebSocketFrame?, end: Int)? {
        guard bytes.count - start >= 2 else { return nil }
        let (first, second) = (bytes[start], bytes[start + 1])
        guard first & 0x70 == 0, second & 0x80 != 0, let opcode = WebSocketFrame.Opcode(rawValue: first & 0x0F) else {
            throw .protocolError
        }
        let isFinal = first & 0x80 != 0
        let isControl = opcode.rawValue >= 8
        var (length, place) = (Int(second & 0x7F), start + 2)
        if length >= 126 {
            guard !isControl else { throw .protocolError }
            let size = length == 126 ? 2 : 8
            guard bytes.count - place >= size else { return nil }
            let value = bytes[place..<(place + size)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard value <= UInt64(Self.limit) else { throw .tooLarge }
            (length, place) = (Int(value), place + size)
        }
        guard !isControl || (isFinal && length <= Self.controlLimit) else { throw .protocolError }
        guard (message?.count ?? 0) + length <= Self.limit || isControl else { throw .tooLarge }
        guard bytes.count - place >= 4 + length else { return nil }
        let mask = Array(bytes[place..<(place + 4)])
        let payload = (0..<length).map { bytes[place + 4 + $0] ^ mask[$0 & 3] }
        return (try take(opcode, payload, isFinal: isFinal), place + 4 + length)
    }

    private mutating func take(
        _ opcode: WebSocketFrame.Opcode, _ payload: [UInt8], isFinal: Bool
    ) throws(WebSocketFault) -> WebSocketFrame? {
        switch opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong
        case .close: return .close
        case .binary: throw .notText
        case .text:
            guard message == nil else { throw .protocolError }
            message = payload
        case .continuation:
            guard message != nil else { throw .protocolError }
            message?.append(contentsOf: payload)
        }
        guard isFinal, let whole = message.take() else { return nil }
        guard String(validating: whole, as: UTF8.self) != nil else { throw .notUnicode }
        return .text(whole)
    }
}
