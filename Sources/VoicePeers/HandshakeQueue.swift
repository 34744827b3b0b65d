internal import VoiceQueue

/// Handshake records that wait for their turn: asymmetric cryptography costs a server 0.1 ms a step with an EC key and
/// 1 ms with RSA, and media shall not wait for many of them.
///
/// A turn ends with ``beginTurn()``. In the order of arrival; bounded. What comes beyond is lost, and repeated by its
/// client.
struct HandshakeQueue: Sendable {
    struct Record: Sendable {
        let bytes: [UInt8]
        let source: EndpointAddress
        /// Whether it begins a handshake, which was accounted for.
        let isAdmitted: Bool
    }

    /// Records at most, of 1500 bytes at most.
    static let capacity = 256

    /// Steps in one turn.
    private let limit: Int
    private var steps = 0
    private var records = FIFOQueue<Record>()

    init(stepsAtOnce limit: Int) { self.limit = limit }

    var isEmpty: Bool { records.isEmpty }

    /// Whether one more step may be done now; it counts.
    mutating func takeStep() -> Bool {
        guard steps < limit, records.isEmpty else { return false }
        steps += 1
        return true
    }

    /// Has a record wait. False where too many do.
    mutating func append(_ record: Record) -> Bool {
        guard records.count < Self.capacity else { return false }
        records.append(record)
        return true
    }

    mutating func beginTurn() { steps = 0 }

    /// The next record whose turn has come; its step counts.
    mutating func next() -> Record? {
        guard steps < limit, let record = records.popFirst() else { return nil }
        steps += 1
        return record
    }
}
