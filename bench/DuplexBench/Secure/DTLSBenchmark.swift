import CAllocationCounter
import Glibc
import VoicePeers
import VoiceRealtime
import VoiceTransport

/// What a peer costs that comes by DTLS: the processor's time to open, and memory while it stays.
enum DTLSBenchmark {
    static let peers = 400

    static func run() throws -> BenchmarkResult {
        var folder = Array("/tmp/duplex-bench-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&folder) != nil else { throw SecureFailure("no folder in /tmp") }
        let path = unsafe folder.withUnsafeBytes { unsafe String(decoding: $0.dropLast(), as: UTF8.self) }
        defer {
            unsafe unlink(path + "/identity.pem")
            unsafe rmdir(path)
        }
        let identity = try ServerIdentitySource.kept(directory: path, names: ["localhost"]).load()
        let ends = try DTLSEnds(identity)
        // What is made once is not a peer's.
        for slot in 0..<peers { try ends.open(slot) }
        for slot in 0..<peers { ends.end(slot) }
        var (clientTimes, serverTimes): ([Double], [Double]) = ([], [])
        for slot in 0..<peers {
            let (client, server) = try ends.open(slot)
            clientTimes.append(client)
            serverTimes.append(server)
        }
        let all = dv_heap_bytes()
        for slot in 0..<peers { ends.client.end(slot) }
        let servers = dv_heap_bytes()
        for slot in 0..<peers { ends.server.end(slot) }
        let none = dv_heap_bytes()
        func kilobytes(_ bytes: Int64) -> Double { Double(bytes) / Double(peers) / 1000 }

        var table = MarkdownTable("an end of a path", "CPU ms to open", "p10", "p90", "kB kept")
        for (name, times, bytes) in [("client", clientTimes, all - servers), ("server", serverTimes, servers - none)] {
            let times = Samples(times)
            func each(_ quantile: Double) -> String { times.quantile(quantile).fixed(3) }
            table.add(name, each(0.5), each(0.1), each(0.9), kilobytes(bytes).fixed(1))
        }
        return BenchmarkResult(
            description: """
                DTLS handshakes through memory, cookie included: CPU time of either end, and what it keeps while it is open, SRTP of one stream each \
                way included; \(peers) peers.
                """,
            table: table,
            summary: [
                ("dtls_server_kb", .number(kilobytes(servers - none), digits: 2)),
                ("dtls_server_ms", .number(Samples(serverTimes).median, digits: 4)),
                ("dtls_client_ms", .number(Samples(clientTimes).median, digits: 4)),
            ])
    }
}

/// Two ends with many places.
private final class DTLSEnds {
    var client: DTLSSecurity
    var server: DTLSSecurity
    private let cookie = AddressCookie(
        of: EndpointAddress(high: 1, low: 2, port: 3), key: CookieKey(high: 4, low: 5), now: .zero)

    init(_ identity: ServerIdentity) throws {
        client = try DTLSSecurity(trusting: .fingerprint(identity.fingerprint))
        server = DTLSSecurity(serving: identity)
    }

    func end(_ slot: Int) {
        client.end(slot)
        server.end(slot)
    }

    /// Opens both ends of a path, and uses them; the CPU time of either, ms.
    @discardableResult
    func open(_ slot: Int) throws -> (client: Double, server: Double) {
        var buffer = [UInt8](repeating: 0, count: 1500)
        var answer = [UInt8](repeating: 0, count: 128)
        var times = (client: Int64(0), server: Int64(0))
        var mark = RealtimeWatch.cpuNanoseconds()
        func lap(_ time: inout Int64) {
            let now = RealtimeWatch.cpuNanoseconds()
            time += now - mark
            mark = now
        }
        client.begin(slot, as: .client, now: .zero)
        lap(&times.client)
        var isAdmitted = false
        while client.state(at: slot) == .opening || server.state(at: slot) == .opening {
            var isQuiet = true
            while let count = Self.poll(&client, slot, into: &buffer) {
                isQuiet = false
                lap(&times.client)
                if isAdmitted {
                    _ = server.receive(buffer.span.extracting(..<count), at: slot, now: .zero)
                    lap(&times.server)
                    continue
                }
                var room = answer.mutableSpan
                switch server.greet(buffer.span.extracting(..<count), cookie: cookie, answer: &room) {
                case .unknown: throw SecureFailure("a hello was none")
                case .answered(let length):
                    lap(&times.server)
                    _ = client.receive(answer.span.extracting(..<length), at: slot, now: .zero)
                    lap(&times.client)
                case .admitted:
                    isAdmitted = true
                    server.begin(slot, as: .server, now: .zero)
                    _ = server.receive(buffer.span.extracting(..<count), at: slot, now: .zero)
                    lap(&times.server)
                }
            }
            while isAdmitted, let count = Self.poll(&server, slot, into: &buffer) {
                isQuiet = false
                lap(&times.server)
                _ = client.receive(buffer.span.extracting(..<count), at: slot, now: .zero)
                lap(&times.client)
            }
            if isQuiet { break }
        }
        guard client.state(at: slot) == .open, server.state(at: slot) == .open else {
            throw SecureFailure("a handshake failed")
        }
        try sendMedia(slot)
        return (Double(times.client) / 1e6, Double(times.server) / 1e6)
    }

    private static func poll(_ end: inout DTLSSecurity, _ slot: Int, into buffer: inout [UInt8]) -> Int? {
        var room = buffer.mutableSpan
        return end.pollRecord(at: slot, into: &room)
    }

    /// One packet each way: then there is a stream.
    private func sendMedia(_ slot: Int) throws {
        for isClients in [true, false] {
            var buffer: [UInt8] = [0x80, 111, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4] + [UInt8](repeating: 0, count: 120)
            var packet = buffer.mutableSpan
            let sent =
                isClients
                ? client.protect(&packet, count: 100, .sound, at: slot)
                : server.protect(&packet, count: 100, .sound, at: slot)
            guard let sent else { throw SecureFailure("media was not protected") }
            let received =
                isClients
                ? server.unprotect(&packet, count: sent, .sound, at: slot)
                : client.unprotect(&packet, count: sent, .sound, at: slot)
            guard received == 100 else { throw SecureFailure("media was not taken") }
        }
    }
}
