import Foundation
import TestCases
import Testing

/// Three machines in one, by network namespaces: two with a cable each to a third. All goes away with it.
///
///     left 10.77.n.2 ─── 10.77.n.1 middle 10.78.n.1 ─── 10.78.n.2 right
final class TestNetwork {
    enum Place: String, CaseIterable { case left, middle, right }

    private static let ip = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    private static let process = ProcessInfo.processInfo.processIdentifier

    /// Why there can be none here; nil where there can.
    static let obstacle: String? = {
        guard ip != nil else { return "needs ip of iproute2" }
        let name = "dv\(process)-probe"
        defer { _ = run(["netns", "del", name]) }
        guard run(["netns", "add", name]), run(["-n", name, "link", "add", "probe", "type", "veth"])
        else { return "may not make network namespaces; run as root" }
        return nil
    }()

    /// Tells those of one process apart.
    private let number: Int32

    init() throws {
        number = Self.process % 250
        do {
            for place in Place.allCases {
                try Self.require(["netns", "add", name(place)])
                try Self.require(["-n", name(place), "link", "set", "lo", "up"])
            }
            for (place, prefix) in [(Place.left, "10.77"), (.right, "10.78")] {
                let (near, far) = ("to-\(place.rawValue)", "eth")
                try Self.require([
                    "-n", name(.middle), "link", "add", "name", near, "type", "veth", "peer", "name", far, "netns",
                    name(place),
                ])
                try Self.require(["-n", name(.middle), "addr", "add", "\(prefix).\(number).1/24", "dev", near])
                try Self.require(["-n", name(.middle), "link", "set", near, "up"])
                try Self.require(["-n", name(place), "addr", "add", "\(prefix).\(number).2/24", "dev", far])
                try Self.require(["-n", name(place), "link", "set", far, "up"])
                try Self.require(["-n", name(place), "route", "add", "default", "via", "\(prefix).\(number).1"])
            }
        } catch {
            remove()
            throw error
        }
    }

    deinit { remove() }

    /// The middle's address towards the left.
    var address: String { "10.77.\(number).1" }

    /// The middle's address towards the right, which the left reaches too.
    var otherAddress: String { "10.78.\(number).1" }

    /// What comes before a command that is to run there.
    func command(in place: Place) -> [String] { [Self.ip ?? "ip", "netns", "exec", name(place)] }

    private func name(_ place: Place) -> String { "dv\(Self.process)-\(place.rawValue)" }

    private func remove() {
        for place in Place.allCases { _ = Self.run(["netns", "del", name(place)]) }
    }

    private static func require(_ arguments: [String]) throws {
        try #require(run(arguments), "ip \(arguments.joined(separator: " "))")
    }

    private static func run(_ arguments: [String]) -> Bool {
        guard let ip else { return false }
        return (try? TestProgram.run(ip, arguments))?.status == 0
    }
}
