internal import VoiceQueue

/// The places of a table: who has each, where he is, and how far his path is. Knows nothing of what protects a path.
///
///     free ─ take ─► opening ─ open ─► open ─┐
///                       └────────── leave ───┴─► leaving ─ release, when nothing is left to send ─► free
struct PeerPlaces: Sendable {
    enum Phase: Sendable { case free, opening, open, leaving }

    struct Place: Sendable {
        fileprivate(set) var phase = Phase.free
        fileprivate(set) var address = EndpointAddress(high: 0, low: 0, port: 0)
        /// When the caller has to have accepted it.
        fileprivate(set) var deadline: Duration = .zero
        /// Whether the caller knows who it is.
        var isAccepted = false
        /// Whether it stands in the list of those with records to send.
        fileprivate var isListed = false
    }

    private var places: [Place] = []
    private var slots: PeerSlots
    /// Who is at an address.
    private var residents: [EndpointAddress: UInt32] = [:]
    /// Who shakes hands at an address where somebody is already: the older one stays until it is known who comes (RFC
    /// 6347 section 4.2.8).
    private var newcomers: [EndpointAddress: UInt32] = [:]
    private var talking = FIFOQueue<UInt32>()

    init(capacity: Int) { slots = PeerSlots(capacity: max(1, capacity)) }

    // MARK: Looking

    var capacity: Int { slots.capacity }

    /// Places that are taken.
    var count: Int { slots.count }

    /// The place of a peer; nil when it is gone.
    func slot(of peer: PeerID) -> Int? {
        guard let slot = slots.slot(of: peer), places[slot].phase != .free else { return nil }
        return slot
    }

    /// The place of a peer whose path is open.
    func openSlot(of peer: PeerID) -> Int? { slot(of: peer).flatMap { places[$0].phase == .open ? $0 : nil } }

    func identity(of slot: Int) -> PeerID { slots.identity(of: slot) }

    func resident(at address: EndpointAddress) -> Int? { residents[address].map { Int($0) } }

    func newcomer(at address: EndpointAddress) -> Int? { newcomers[address].map { Int($0) } }

    subscript(slot: Int) -> Place {
        get { places[slot] }
        _modify { yield &places[slot] }
    }

    // MARK: Life

    /// Takes a place for whoever is at an address, where no other newcomer is. Nil when there is none.
    mutating func take(_ address: EndpointAddress, acceptedUntil deadline: Duration) -> Int? {
        guard let slot = slots.take()?.slot else { return nil }
        if slot == places.count { places.append(Place()) }
        places[Int(slot)] = Place(phase: .opening, address: address, deadline: deadline)
        if residents[address] == nil { residents[address] = slot } else { newcomers[address] = slot }
        return Int(slot)
    }

    /// Opens a path. Whom it displaces, who was at its address before.
    mutating func open(_ slot: Int) -> Int? {
        places[slot].phase = .open
        let address = places[slot].address
        guard newcomers[address] == UInt32(slot) else { return nil }
        newcomers[address] = nil
        defer { residents[address] = UInt32(slot) }
        return residents[address].map { Int($0) }
    }

    /// A peer goes: its identity names nobody from now on, and nobody is where it was.
    mutating func leave(_ slot: Int) {
        let address = places[slot].address
        if residents[address] == UInt32(slot) { residents[address] = nil }
        if newcomers[address] == UInt32(slot) { newcomers[address] = nil }
        places[slot].phase = .leaving
        slots.forget(slot)
    }

    /// Gives back the place of one who has left, unless it still has something to send. Whether it is free.
    mutating func release(_ slot: Int) -> Bool {
        guard !places[slot].isListed else { return false }
        places[slot].phase = .free
        slots.release(slot)
        return true
    }

    /// A peer is at another address now, where nobody else is.
    mutating func move(_ slot: Int, to address: EndpointAddress) {
        residents[places[slot].address] = nil
        residents[address] = UInt32(slot)
        places[slot].address = address
    }

    // MARK: Who has something to send

    /// Has a place asked for what it has to send, after those that are.
    mutating func list(_ slot: Int) {
        guard !places[slot].isListed else { return }
        places[slot].isListed = true
        talking.append(UInt32(slot))
    }

    /// The first of those that may have something to send.
    var talker: Int? { talking.first.map { Int($0) } }

    /// The first has nothing more.
    mutating func unlistTalker() {
        if let slot = talking.popFirst() { places[Int(slot)].isListed = false }
    }
}
