import Testing

@testable import VoiceTransport

@Suite("A server's identity while it serves")
struct ServerIdentityLiveTests {
    @Test("is not read again before the start, which reads it")
    func reload() throws {
        let folder = try TestFolder()
        let server = RoomServer(
            configuration: RoomServerConfiguration(
                security: .protected(.kept(directory: folder.path + "/state", names: ["localhost"]))),
            verifier: TokenVerifier(keys: []))
        try server.reloadIdentity()
        #expect(server.fingerprint == nil)
    }
}
