import VoiceRooms

/// The strangers of an attack, each at an address of its own: they know the records of a path without protection, and
/// keep to no order.
///
///     hello without a cookie ─► retry with a cookie ─► hello with it ─► welcome ─► join with a forged token
struct Strangers {
    /// Whether they go further than the first hello.
    private let joins: Bool
    private let token: [UInt8]
    private var number: UInt64 = 0
    /// What the server has told each address.
    private var cookies: [[UInt8]?]
    /// The conversations that are open, by their nonces, and have not joined.
    private var open: [[[UInt8]]]

    private static let base64 = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let headerBytes = 10
    private static let cookieBytes = 16

    /// - Parameter token: one that is signed with another key.
    init(count: Int, joins: Bool, token: String) {
        self.joins = joins
        self.token = Array(token.utf8)
        cookies = Array(repeating: nil, count: count)
        open = Array(repeating: [], count: count)
    }

    /// Whether what a stranger says next is all that its attack can have it say.
    func isReady(_ stranger: Int) -> Bool { !joins || !open[stranger].isEmpty }

    /// What a stranger says next.
    mutating func next(from stranger: Int) -> [UInt8] {
        guard let nonce = open[stranger].popLast() else {
            // Each has another nonce: it looks like another peer, which takes the place of the one before.
            let cookie = joins ? cookies[stranger] : nil
            return [13, 0] + (0..<8).map { _ in .random(in: 0...255) }
                + (cookie ?? [UInt8](repeating: 0, count: Self.cookieBytes))
        }
        return [13, 1] + nonce + forgedJoin()
    }

    /// Takes what the server says to a stranger.
    mutating func take(_ datagrams: [[UInt8]], at stranger: Int) {
        guard joins else { return }
        for datagram in datagrams where datagram.count >= Self.headerBytes && datagram[0] == 13 {
            switch datagram[1] {
            case 2: cookies[stranger] = Array(datagram[Self.headerBytes...])
            case 3: open[stranger].append(Array(datagram[2..<Self.headerBytes]))
            default: break
            }
        }
    }

    /// Each with another wrong signature.
    private mutating func forgedJoin() -> [UInt8] {
        number += 1
        var token = token
        for place in 0..<4 {
            token[token.count - 10 + place] = Self.base64[Int(truncatingIfNeeded: number >> UInt64(6 * place)) & 63]
        }
        let join = RoomMessage.join(JoinRequest(capabilities: .conversation, room: "", token: token))
        return ControlDatagram(acknowledged: 1, frames: [ControlDatagram.Frame(sequence: 1, message: join)]).encoded()
    }
}
