import CLinuxRealtime
import Glibc
import TestCases
import Testing
import VoicePeers

@testable import VoiceTransport

@Suite("The server's socket under a flood", .serialized)
struct FloodedSocketLiveTests {
    /// Reports as long as a datagram may be, 10,000 a second of which the server's thread does not come to read for 150
    /// ms.
    private static let datagrams = 1_500
    private static let bytes = 1_400

    /// What the kernel permits without privileges, bytes.
    private static var permitted: Int {
        guard let file = unsafe fopen("/proc/sys/net/core/rmem_max", "r") else { return 0 }
        defer { unsafe fclose(file) }
        var text = [CChar](repeating: 0, count: 32)
        guard unsafe fgets(&text, CInt(text.count), file) != nil else { return 0 }
        return unsafe atol(text)
    }

    @Test("tells how much the kernel keeps, and a server where that is less than it asks for")
    func told() throws {
        let anywhere = try #require(EndpointAddress(numeric: "127.0.0.1", port: 0))
        var local = anywhere.system
        let socket = unsafe dv_udp_open(&local, nil, 1 << 16)
        try #require(socket >= 0)
        defer { dv_udp_close(socket) }
        #expect(dv_udp_receive_buffer(socket) == 1 << 16)
        #expect(dv_udp_receive_buffer(-1) == -EBADF)
        let server = RoomServer(verifier: TokenVerifier(keys: []))
        #expect(server.scarceSocketBuffer == nil)
        _ = try server.start()
        defer { server.stop() }
        // With CAP_NET_ADMIN all is granted.
        let kept = server.scarceSocketBuffer
        #expect(kept == nil || kept == Self.permitted)
        if Self.permitted >= RoomServer.socketBufferSize { #expect(kept == nil) }
    }

    @Test(
        "keeps what comes while the server does not run",
        .enabled(if: permitted >= RoomServer.socketBufferSize, "the kernel permits so large a buffer"))
    func keeps() throws {
        // Given a socket as the server opens it
        let anywhere = try #require(EndpointAddress(numeric: "127.0.0.1", port: 0))
        var local = anywhere.system
        let socket = unsafe dv_udp_open(&local, nil, RoomServer.socketBufferSize)
        try #require(socket >= 0)
        defer { dv_udp_close(socket) }
        var bound = dv_address()
        #expect(unsafe dv_udp_local(socket, &bound) == 0)
        let sender = unsafe dv_udp_open(nil, &bound, 1 << 18)
        try #require(sender >= 0)
        defer { dv_udp_close(sender) }
        // When nobody reads
        var datagram = [UInt8](repeating: 7, count: Self.bytes)
        for _ in 0..<Self.datagrams {
            #expect(unsafe send(sender, datagram, datagram.count, 0) == datagram.count)
        }
        // Then all of it waits
        var kept = 0
        while unsafe recv(socket, &datagram, datagram.count, 0) == datagram.count { kept += 1 }
        #expect(kept == Self.datagrams)
    }
}
