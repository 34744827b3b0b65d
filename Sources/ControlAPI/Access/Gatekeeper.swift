/// Decides who may ask: by the key, by the host that is asked for, and by the page that asks.
package struct Gatekeeper: Sendable {
    /// A client: what it is called in logs, and the key that it brings.
    package struct Client: Sendable {
        package var name: String
        package var key: [UInt8]

        package init(name: String, key: [UInt8]) { (self.name, self.key) = (name, key) }
    }

    private let clients: [Client]
    private let hosts: Set<String>
    private let scheme = Array("Bearer ".utf8)

    /// - Parameters:
    ///   - clients: at least one.
    ///   - hosts: names and addresses that the server is asked by, beyond those of this machine.
    package init(_ clients: [Client], hosts: Set<String> = []) {
        self.clients = clients
        self.hosts = hosts.union(["127.0.0.1", "localhost", "[::1]"])
    }

    /// Refuses what a page in a browser sends: it names its origin, or asks for a host by a name that is not ours (DNS
    /// rebinding).
    package func checkOrigin(_ head: HTTPHead) throws(ControlError) {
        guard head.headers["origin"] == nil else {
            throw ControlError(.forbidden, "pages in browsers are not served")
        }
        guard let host = head.headers["host"] else { return }
        let name = Self.name(host)
        guard hosts.contains(name.lowercased()) else {
            throw ControlError(.forbidden, "this server is asked by its own address, or as localhost")
        }
    }

    /// The name of the client whose key this is.
    package func client(_ head: HTTPHead) throws(ControlError) -> String {
        guard let value = head.headers["authorization"].map({ Array($0.utf8) }), value.starts(with: scheme) else {
            throw .unauthorised
        }
        let given = value[scheme.count...]
        var found: String?
        // All are compared, each in a time that the key's length alone decides.
        for client in clients where Self.isEqual(client.key, given) { found = found ?? client.name }
        guard let found else { throw .unauthorised }
        return found
    }

    private static func isEqual(_ key: [UInt8], _ given: ArraySlice<UInt8>) -> Bool {
        var difference = UInt8(key.count == given.count ? 0 : 1)
        for index in key.indices {
            let place = given.startIndex + index
            difference |= key[index] ^ (place < given.endIndex ? given[place] : 0)
        }
        return difference == 0
    }

    /// Without the port.
    private static func name(_ host: String) -> Substring {
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") {
            let rest = host[host.index(after: end)...]
            return rest.isEmpty || rest.hasPrefix(":") ? host[...end] : ""
        }
        return host.prefix { $0 != ":" }
    }
}
