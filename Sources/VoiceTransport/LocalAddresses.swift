internal import VoicePeers

/// The addresses of this machine by which datagrams came to a socket that is bound to all of them, numbered from 1 in
/// the order in which they were seen.
///
/// A machine has few. Of one that has more than ``limit``, the further ones are 0: the system chooses what answers
/// leave from, as it does where a socket is bound to one address. Allocates when made, and never again; looking one up
/// compares ``limit`` at most.
struct LocalAddresses {
    /// Addresses at most.
    static let limit = 64
    /// Of these of the loopback: it has so many that a user of this machine could fill all places with them.
    static let loopbackLimit = 16

    private var known: [EndpointAddress] = []

    init() { known.reserveCapacity(Self.limit) }

    /// The number of an address, without its port.
    mutating func number(of address: EndpointAddress) -> UInt16 {
        if let place = known.firstIndex(of: address) { return UInt16(place + 1) }
        guard known.count < Self.limit,
            !address.isLoopback || known.count(where: { $0.isLoopback }) < Self.loopbackLimit
        else { return 0 }
        known.append(address)
        return UInt16(known.count)
    }

    /// The address of a number; nil where the system chooses.
    subscript(number: UInt16) -> EndpointAddress? { number == 0 ? nil : known[Int(number) - 1] }
}
