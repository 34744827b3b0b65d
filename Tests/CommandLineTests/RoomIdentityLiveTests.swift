import Foundation
import Testing
import VoiceEngine
import VoicePeers
import VoiceRooms
import VoiceTransport

@testable import duplex

@Suite(
    "A call to a server that is not who it should be, or with a token that does not open the room",
    .timeLimit(.minutes(3)))
struct RoomIdentityLiveTests {
    /// A call that ends before anybody has heard anything.
    private func call(
        _ url: String, _ token: String, in folder: TestFolder, trusting authority: TestAuthority? = nil
    ) throws -> ChildProcess.Result {
        try folder.speak("in.wav", seconds: 0.2, seed: 1)
        return try ChildProcess.run(
            ["call", "--server", url, "--token", token, "--input", folder("in.wav")],
            environment: authority.map { ["SSL_CERT_FILE": $0.certificate, "SSL_CERT_DIR": folder.path] } ?? [:])
    }

    @Test("another certificate than the URL's fingerprint says")
    func fingerprint() throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        let token = try server.token("a")
        #expect(try call(server.url, token, in: folder).exitCode == 0)
        let position = try #require(server.url.firstRange(of: "sha256:")).upperBound
        let changed = server.url[position] == "0" ? "1" : "0"
        let wrong = server.url[..<position] + changed + server.url[server.url.index(after: position)...]
        expectFailure(
            try call(String(wrong), token, in: folder), code: 77,
            saying: "the server has another certificate than the URL's fingerprint says")
        _ = server.stop()
    }

    @Test(
        "an authority's certificate: of another authority, out of time, of another host",
        .enabled(if: TestAuthority.isAvailable, "needs the openssl program"))
    func authority() throws {
        let folder = try TestFolder()
        let authority = try TestAuthority(in: folder)
        let secondFolder = try TestFolder()
        let other = try TestAuthority(in: secondFolder)
        // Given a server that an authority has signed for localhost, the URL says nothing but where it is
        let server = try RunningServer(in: folder, identity: try authority.sign("localhost"))
        let token = try server.token("a")
        #expect(server.url == "duplex://localhost:\(server.port)" || server.url == "duplex://localhost:\(server.port)/")
        let welcome = try call(server.url, token, in: folder, trusting: authority)
        #expect(welcome.exitCode == 0, "\(welcome.standardError)")
        // Then who trusts another authority does not talk to it, nor who wants another host
        expectFailure(
            try call(server.url, token, in: folder, trusting: other), code: 77,
            saying: "no authority has signed the server's certificate")
        expectFailure(
            try call("duplex://127.0.0.1:\(server.port)", token, in: folder, trusting: authority), code: 77,
            saying: "the server's certificate is for another host")
        _ = server.stop()

        // A certificate whose time is over
        let late = try RunningServer(in: folder, identity: try authority.sign("localhost", days: -1))
        expectFailure(
            try call(late.url, token, in: folder, trusting: authority), code: 77,
            saying: "the server's certificate has expired or is not valid yet")
        _ = late.stop()

        // One that the server has signed itself
        let own = try RunningServer(in: folder)
        expectFailure(
            try call("duplex://127.0.0.1:\(own.port)", token, in: folder, trusting: authority), code: 77,
            saying: "no authority has signed the server's certificate")
        _ = own.stop()
    }

    @Test("authorities that cannot be read")
    func noAuthorities() throws {
        let folder = try TestFolder()
        try folder.speak("in.wav", seconds: 0.2, seed: 1)
        let server = try RunningServer(in: folder, identity: try TestAuthority(in: folder).sign("localhost"))
        let result = try ChildProcess.run(
            server.call(token: try server.token("a"), "--input", folder("in.wav")),
            environment: ["SSL_CERT_FILE": folder("none.pem"), "SSL_CERT_DIR": folder("none")])
        expectFailure(result, code: 77, saying: "no authority has signed the server's certificate")
        _ = server.stop()
    }

    @Test("a token without the right to join, which 'room token' does not make")
    func noJoinRight() throws {
        let folder = try TestFolder()
        let server = try RunningServer(in: folder)
        let secret = Array("0123456789abcdef0123456789abcdef".utf8)
        let issuer = TokenIssuer(key: try TokenKey(name: "duplex", secret: secret))
        let now = Int64(Date().timeIntervalSince1970)
        let token = try issuer.token(
            for: TokenGrants(identity: "a", room: "r", canJoin: false), notBefore: now - 10, expires: now + 100)
        expectFailure(
            try call(server.url, token, in: folder), code: 77, saying: "the token does not allow joining")
        _ = server.stop()
    }

    @Test("each refusal has a sentence of its own, and the code of its kind")
    func sentences() {
        let refusals: [(RoomRefusal, Failure.Code)] = [
            (.expired, .permissionDenied), (.notYetValid, .permissionDenied), (.badSignature, .permissionDenied),
            (.wrongRoom, .permissionDenied), (.noJoinRight, .permissionDenied), (.malformed, .inputUnusable),
        ]
        let failures = refusals.map { Failure(RoomClientEnd.session(.refused($0.0, serverVersions: 4...4))) }
        for (failure, refusal) in zip(failures, refusals) { #expect(failure.code == refusal.1, "\(refusal.0)") }
        let identities = [IdentityRefusal.otherFingerprint, .untrusted, .otherHost, .outOfDate].map {
            Failure(RoomClientEnd.session(.identityRefused($0)))
        }
        #expect(identities.allSatisfy { $0.code == .permissionDenied })
        let sentences = (failures + identities).map(\.message)
        #expect(Set(sentences).count == sentences.count)
        #expect(sentences.allSatisfy { $0.count > 30 && $0.contains(";") })
    }

    @Test("a file that may not be read or written is a permission that is missing, and otherwise an input, or a place")
    func files() {
        #expect(ServerIdentityError.unreadable(path: "k", errno: EACCES).code == .permissionDenied)
        #expect(ServerIdentityError.unreadable(path: "k", errno: ENOENT).code == .inputUnusable)
        #expect(ServerIdentityError.unwritable(path: "s", errno: EACCES).code == .permissionDenied)
        #expect(ServerIdentityError.unwritable(path: "s", errno: ENOTDIR).code == .unavailable)
        #expect(Failure(RecordingFault.unreadable(path: "r", errno: EACCES)).code == .permissionDenied)
        #expect(Failure(RecordingFault.unreadable(path: "r", errno: ENOENT)).code == .inputUnusable)
    }
}
