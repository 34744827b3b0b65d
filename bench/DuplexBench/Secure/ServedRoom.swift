import Foundation
import VoicePeers
import VoiceRealtime
import VoiceRooms
import VoiceTransport

/// A room server as it runs, on a thread of this process, and a room full of members on loopback sockets.
final class ServedRoom {
    /// Members of the room.
    static let members = 20
    /// Those of them who speak.
    static let talkers = 3
    /// Between one packet and the next, whoever says it, microseconds.
    private static let packetMicroseconds: Int64 = 1_000

    let members: [any RoomMember]
    private let server: RoomServer
    private let thread: String
    private var turn = 0

    /// Starts a server and waits until its room is full.
    ///
    /// - Parameter folder: where a protected server keeps its certificate; nil for a plaintext one.
    init(protectedFrom folder: String?) throws {
        let secret = Array("benchmark".utf8) + (0..<32).map { _ in UInt8.random(in: 0...255) }
        let key = try TokenKey(name: "bench", secret: secret)
        let security = folder.map {
            RoomServerSecurity.protected(.kept(directory: $0, names: ["localhost"]))
        }
        server = RoomServer(
            configuration: RoomServerConfiguration(security: security ?? .plaintext),
            verifier: TokenVerifier(keys: [key]))
        let others = Set(try Self.serverThreads())
        let port = try server.start()
        let issuer = TokenIssuer(key: key)
        let now = Int64(Date().timeIntervalSince1970)
        let fingerprint = server.fingerprint
        members = try (0..<Self.members).map { number -> any RoomMember in
            let token = try issuer.token(
                for: TokenGrants(identity: "member \(number)", room: "bench"), notBefore: now - 10, expires: now + 3600)
            guard let fingerprint else {
                return try LoopbackMember(token: token, port: port, security: Plaintext(key: .random()))
            }
            return try LoopbackMember(
                token: token, port: port, security: try DTLSSecurity(trusting: .fingerprint(fingerprint)))
        }
        thread = try Self.newServerThread(besides: others)
        try fill()
    }

    deinit { server.stop() }

    private func fill() throws {
        let start = MonotonicTime.now().sinceEpoch
        while !members.allSatisfy(\.isPresent) {
            for member in members { member.pump() }
            sleepMicroseconds(1_000)
            guard MonotonicTime.now().sinceEpoch - start < .seconds(20) else {
                throw SecureFailure("\(members.count { $0.isPresent }) of \(members.count) came into the room")
            }
        }
        // Everybody hears every talker: from now on no SSRC is new to anybody.
        while members.contains(where: { $0.packetsHeard < 10 * Self.talkers }) {
            try talk(packets: Self.talkers)
            guard MonotonicTime.now().sinceEpoch - start < .seconds(40) else {
                throw SecureFailure("not everybody hears the talkers")
            }
        }
    }

    /// Has the talkers speak in turn, and everybody listen.
    func talk(packets: Int) throws {
        for _ in 0..<packets {
            turn += 1
            guard members[turn % Self.talkers].say() else { throw SecureFailure("a talker is not in the room") }
            // Each in his turn, so that no socket runs full.
            for listener in 0..<2 { members[(2 * turn + listener) % members.count].pump() }
            sleepMicroseconds(Self.packetMicroseconds)
        }
    }

    /// Nanoseconds of the server's thread for each copy that it forwarded of so many packets.
    func nanosecondsPerCopy(packets: Int) throws -> Double {
        try rest()
        let (time, copies) = (try cpuNanoseconds(), server.statistics.packetsForwarded)
        try talk(packets: packets)
        try rest()
        let forwarded = server.statistics.packetsForwarded - copies
        // What the kernel drops before a busy server is not forwarded; most must be, or something else is measured.
        guard forwarded > packets * (members.count - 1) / 2 else {
            throw SecureFailure("\(forwarded) copies of \(packets) packets to \(members.count - 1) others")
        }
        return Double(try cpuNanoseconds() - time) / Double(forwarded)
    }

    /// Lets the server become idle, and takes whatever still comes.
    func rest() throws {
        for _ in 0..<3 {
            sleepMicroseconds(5_000)
            for member in members { member.pump() }
        }
        guard members.allSatisfy(\.isPresent) else { throw SecureFailure("a member was put out") }
    }

    /// Copies that the server has forwarded.
    var packetsForwarded: Int { server.statistics.packetsForwarded }

    /// Allocations of the server on its media path.
    var serverAllocations: Int { server.statistics.mediaAllocations }

    /// Allocations of all members for media.
    var memberAllocations: Int64 { members.reduce(0) { $0 + $1.mediaAllocations } }

    // MARK: The server's thread

    /// The thread that was not there before: it gives itself its name, which takes as long as the machine is busy.
    private static func newServerThread(besides others: Set<String>) throws -> String {
        let start = MonotonicTime.now().sinceEpoch
        while MonotonicTime.now().sinceEpoch - start < .seconds(20) {
            if let thread = try serverThreads().first(where: { !others.contains($0) }) { return thread }
            sleepMicroseconds(1_000)
        }
        throw SecureFailure("the server has no thread")
    }

    private static func serverThreads() throws -> [String] {
        let folder = "/proc/self/task"
        return try FileManager.default.contentsOfDirectory(atPath: folder).map { "\(folder)/\($0)" }.filter {
            (try? String(contentsOfFile: "\($0)/comm", encoding: .utf8)) == "dv-room-server\n"
        }
    }

    private func cpuNanoseconds() throws -> Int64 {
        let text = try String(contentsOfFile: "\(thread)/schedstat", encoding: .utf8)
        guard let first = text.split(separator: " ").first, let time = Int64(first) else {
            throw SecureFailure("the kernel does not count the server's time")
        }
        return time
    }
}
