import Foundation
import Synchronization
import Testing

@testable import VoiceWeb

@Suite("Byte streams over loopback", .serialized, .timeLimit(.minutes(2)))
struct StreamServerLiveTests {
    /// Ends a connection of the echo.
    private static let last: UInt8 = 0

    /// Says back what it is told, from threads that are not the server's.
    private final class Echo: StreamHandler {
        private let link: StreamLink
        private let bytes: AsyncStream<[UInt8]>.Continuation
        private let log: Log

        init(_ link: StreamLink, _ log: Log) {
            self.link = link
            self.log = log
            let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
            bytes = continuation
            Task {
                for await piece in stream {
                    link.setReading(false)
                    link.send(piece)
                    link.setReading(true)
                    if piece.contains(StreamServerLiveTests.last) { link.end() }
                }
                log.count { $0.tasks += 1 }
            }
        }

        func received(_ bytes: [UInt8]) -> Bool {
            self.bytes.yield(bytes)
            return true
        }

        func sent() {}

        func tick() { log.count { $0.ticks += 1 } }

        func ended() {
            log.count { $0.ended += 1 }
            bytes.finish()
        }
    }

    private final class Log: Sendable {
        struct Counts: Equatable {
            var accepted = 0
            var ended = 0
            var tasks = 0
            var ticks = 0
        }

        private let state = Mutex(Counts())
        var counts: Counts { state.withLock { $0 } }
        func count(_ body: (inout Counts) -> Void) { state.withLock { body(&$0) } }
    }

    private static func echo(_ log: Log) throws -> StreamServer {
        try StreamServer(interface: "127.0.0.1", port: 0) { link in
            log.count { $0.accepted += 1 }
            return Echo(link, log)
        }
    }

    /// Has `body` done on a thread of its own: what waits for a socket would hold up the tasks that serve it.
    private static func onThread<Outcome: Sendable>(_ body: @escaping @Sendable () -> Outcome) async -> Outcome {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }

    /// What a connection brings until it ends.
    private static func rest(of connection: RawConnection) -> [UInt8] {
        var all: [UInt8] = []
        while case let piece = connection.read(), !piece.isEmpty { all += piece }
        close(connection.descriptor)
        return all
    }

    @Test("Given clients at once, then each gets its own bytes back, in order and whole, before its end")
    func ownBytes() async throws {
        let log = Log()
        let server = try Self.echo(log)
        let port = server.port
        let isWhole = try await withThrowingTaskGroup(of: Bool.self) { group in
            for client in 0..<8 {
                group.addTask {
                    let connection = try RawConnection(port: port)
                    let sent = (0..<40_000).map { UInt8(1 + ($0 * 7 + client) % 255) } + [Self.last]
                    async let received = Self.onThread { Self.rest(of: connection) }
                    let isSent = await Self.onThread {
                        stride(from: 0, to: sent.count, by: 1_711).allSatisfy { start in
                            connection.write(Array(sent[start..<min(start + 1_711, sent.count)]))
                        }
                    }
                    return await received == sent && isSent
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(isWhole == Array(repeating: true, count: 8))
        #expect(log.counts.accepted == 8)
        while log.counts.ended < 8 || log.counts.tasks < 8 { try await Task.sleep(for: .milliseconds(2)) }
        withExtendedLifetime(server) {}
    }

    @Test(
        "Given a server that is let go while clients talk, then each handler is told of the end once, and clients see it"
    )
    func letGo() async throws {
        let log = Log()
        for _ in 0..<5 {
            var server: StreamServer? = try Self.echo(log)
            let before = log.counts
            let connections = try (0..<6).map { _ in try RawConnection(port: try #require(server).port) }
            // They write until the server is gone, and read what it says meanwhile.
            let talkers = connections.map { connection in
                Task {
                    async let received = Self.onThread { while !connection.read().isEmpty {} }
                    await Self.onThread { while connection.write([1, 2, 3]) {} }
                    await received
                    close(connection.descriptor)
                }
            }
            while log.counts.accepted < before.accepted + 6 { try await Task.sleep(for: .milliseconds(2)) }
            server = nil
            #expect(log.counts.ended == before.ended + 6)
            for talker in talkers { await talker.value }
        }
        while log.counts.tasks < 30 { try await Task.sleep(for: .milliseconds(2)) }
        #expect(log.counts.accepted == 30 && log.counts.ended == 30)
    }

    @Test("Given a client that reads nothing, then what waits for it is bounded, and the connection is given up")
    func bounded() async throws {
        let links = Mutex<[StreamLink]>([])
        let log = Log()
        let server = try StreamServer(interface: "127.0.0.1", port: 0, stallSeconds: 4) { link in
            links.withLock { $0.append(link) }
            return Echo(link, log)
        }
        let connection = try RawConnection(port: server.port)
        while links.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(2)) }
        let link = links.withLock { $0[0] }
        let piece = [UInt8](repeating: 7, count: 1 << 20)
        var taken = 0
        while taken < 100, link.send(piece) { taken += 1 }
        // The queue, and what the sockets hold.
        #expect(taken >= 8 && taken < 40, "\(taken)")
        #expect(!link.send([1]))
        while log.counts.ended < 1 { try await Task.sleep(for: .milliseconds(2)) }
        close(connection.descriptor)
        withExtendedLifetime(server) {}
    }

    @Test(
        "Given clients that stop reading, one at its end and one before it, then they are given up; a slow one gets all"
    )
    func stalled() async throws {
        let log = Log()
        let links = Mutex<[StreamLink]>([])
        // More than the sockets hold.
        let sent = 6 << 20
        let server = try StreamServer(interface: "127.0.0.1", port: 0, stallSeconds: 6) { link in
            for _ in 0..<96 { link.send([UInt8](repeating: 7, count: sent / 96)) }
            links.withLock {
                $0.append(link)
                if $0.count > 1 { link.end() }
            }
            return Echo(link, log)
        }
        let stalled = try (0..<2).map { _ in try RawConnection(port: server.port) }
        let slow = try RawConnection(port: server.port)
        let received = await Self.onThread {
            var count = 0
            while case let piece = slow.read(), !piece.isEmpty {
                count += piece.count
                usleep(3_000)
            }
            return count
        }
        #expect(received == sent)
        while log.counts.ended < 3 { try await Task.sleep(for: .milliseconds(2)) }
        #expect(!links.withLock { $0[0].send([1]) }, "it was not asked to end")
        for connection in stalled + [slow] { close(connection.descriptor) }
        withExtendedLifetime(server) {}
    }

    @Test("Given TLS, then who is there and shakes no hand is a connection like others, which may give way")
    func handshakes() async throws {
        let folder = WebSocketLiveTests.newFolder
        defer { try? FileManager.default.removeItem(at: folder) }
        let (certificate, key) = try WebSocketLiveTests.makeCertificate(in: folder)
        let log = Log()
        let server = try StreamServer(interface: "127.0.0.1", port: 0, certificate: certificate, privateKey: key) {
            log.count { $0.accepted += 1 }
            return Echo($0, log)
        }
        let silent = try (0..<70).map { _ in try RawConnection(port: server.port) }
        while log.counts.accepted < 70 || log.counts.ended < 6 { try await Task.sleep(for: .milliseconds(2)) }
        for connection in silent { close(connection.descriptor) }
        withExtendedLifetime(server) {}
    }

    @Test(
        "Given as many connections as there may be, then a newcomer has the place of one of the least, and busy ones stay"
    )
    func full() async throws {
        let log = Log()
        let links = Mutex<[StreamLink]>([])
        let server = try StreamServer(interface: "127.0.0.1", port: 0) { link in
            links.withLock { $0.append(link) }
            return Echo(link, log)
        }
        var connections: [RawConnection] = []
        func connect(host: UInt32 = 1) async throws {
            connections.append(try RawConnection(port: server.port, host: host))
            while links.withLock({ $0.count }) < connections.count { try await Task.sleep(for: .milliseconds(1)) }
        }
        func isOver(_ index: Int) -> Bool { !links.withLock { $0[index].send([1]) } }
        func setStanding(_ standing: StreamStanding, _ indices: Range<Int>) {
            links.withLock { links in indices.forEach { links[$0].setStanding(standing) } }
        }
        // One from elsewhere, and 63 from here.
        try await connect(host: 2)
        for _ in 1..<64 { try await connect() }
        setStanding(.busy, 1..<10)
        setStanding(.idle, 10..<20)
        try await connect()
        func hasPushedOut(_ count: Int) async throws {
            while log.counts.ended < count { try await Task.sleep(for: .milliseconds(1)) }
            #expect(log.counts.ended == count)
        }
        try await hasPushedOut(1)
        #expect(isOver(20), "the oldest stranger from here")
        // Whoever is alone at his place has it as long as there are more strangers at another.
        for _ in 0..<60 { try await connect() }
        try await hasPushedOut(61)
        #expect(!isOver(0) && !isOver(1) && !isOver(10), "strangers push out strangers")
        setStanding(.busy, 0..<1)
        setStanding(.busy, 61..<connections.count)
        try await connect()
        try await hasPushedOut(62)
        #expect(isOver(10) && !isOver(1), "no stranger is left")
        setStanding(.busy, 11..<connections.count)
        let refused = try RawConnection(port: server.port)
        await Self.onThread { refused.waitForEnd() }
        #expect(links.withLock { $0.count } == connections.count, "nobody gives way")
        for connection in connections + [refused] { close(connection.descriptor) }
        withExtendedLifetime(server) {}
    }
}
