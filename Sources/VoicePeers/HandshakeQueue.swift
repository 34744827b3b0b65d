internal import VoiceQueue

/// Handshake records that wait for their turn: asymmetric cryptography costs a server 0.1 ms a step with an EC key and
/// 1 ms with RSA, and media shall not wait for many of them.
///
/// A turn ends with ``beginTurn()``. One record of each network after another, those of a network in the order of
/// arrival; bounded. What comes beyond is lost, and repeated by its client: where there is no room left, the network
/// that has most waiting loses one of them, so that nobody can fill all of it.
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
    private var count = 0
    /// By network.
    private var records: [UInt64: FIFOQueue<Record>] = [:]
    /// The networks that have some, in the order in which they have their turn.
    private var networks = FIFOQueue<UInt64>()

    init(stepsAtOnce limit: Int) { self.limit = limit }

    var isEmpty: Bool { count == 0 }

    /// Whether one more step may be done now; it counts.
    mutating func takeStep() -> Bool {
        guard steps < limit, isEmpty else { return false }
        steps += 1
        return true
    }

    /// Has a record wait. Returns how many are lost by that: one, or another one, where too many wait.
    mutating func append(_ record: Record) -> Int {
        let network = record.source.prefix(.host)
        var lost = 0
        if count == Self.capacity {
            lost = 1
            guard let fullest = records.max(by: { $0.value.count < $1.value.count }),
                fullest.value.count > max(records[network]?.count ?? 0, 1)
            else { return lost }
            _ = popFirst(of: fullest.key)
        }
        if records[network] == nil { networks.append(network) }
        records[network, default: FIFOQueue()].append(record)
        count += 1
        return lost
    }

    mutating func beginTurn() { steps = 0 }

    /// The next record whose turn has come; its step counts.
    mutating func next() -> Record? {
        guard steps < limit, let network = networks.popFirst(), let record = popFirst(of: network) else { return nil }
        if records[network] != nil { networks.append(network) }
        steps += 1
        return record
    }

    private mutating func popFirst(of network: UInt64) -> Record? {
        guard let record = records[network]?.popFirst() else { return nil }
        if records[network]?.isEmpty ?? true { records[network] = nil }
        count -= 1
        return record
    }
}
