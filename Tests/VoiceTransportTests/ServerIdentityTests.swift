import Glibc
import Testing

@testable import VoiceTransport

@Suite("A server's identity")
struct ServerIdentityTests {
    private func error(_ source: ServerIdentitySource) -> ServerIdentityError? {
        do throws(ServerIdentityError) {
            _ = try source.load()
            return nil
        } catch {
            return error
        }
    }

    @Test("is made once and kept, for its owner alone")
    func kept() throws {
        let folder = try TestFolder()
        let directory = folder.path + "/state/"
        let source = ServerIdentitySource.kept(directory: directory, names: ["voice.example", "192.0.2.1", "::1"])
        let made = try source.load()
        #expect(try folder.mode(directory) == 0o700)
        #expect(try folder.mode(directory + "identity.pem") == 0o600)
        // Nothing else is left there.
        #expect(try folder.names(in: directory) == ["identity.pem"])
        #expect(try source.load().fingerprint == made.fingerprint)
        // Another folder gives another server.
        let other = ServerIdentitySource.kept(directory: folder.path + "/other", names: [])
        #expect(try other.load().fingerprint != made.fingerprint)
        // Neither name nor address, or what a certificate would take for something else.
        for name in ["", "a b", "a,b", "é.example", "a\0b", "*/a", String(repeating: "a", count: 254)] {
            let source = ServerIdentitySource.kept(directory: folder.path + "/third", names: [name])
            #expect(error(source) == .invalidName(name))
        }
        #expect(!String(reflecting: made).contains("PRIVATE") && !"\(made)".contains("PRIVATE"))
    }

    @Test("of files is the leaf's, and shows a new one when it is read again")
    func files() throws {
        let folder = try TestFolder()
        let (one, two) = (TestIdentity.localhost, TestIdentity.other)
        let certificates = try folder.write("certificate.pem", one.text, mode: 0o644)
        let key = try folder.write("key.pem", one.text, mode: 0o640)
        let source = ServerIdentitySource.files(certificates: certificates, key: key)
        #expect(try source.load().fingerprint == one.identity.fingerprint)
        _ = try folder.write("certificate.pem", two.text + one.text, mode: 0o644)
        #expect(error(source) == .otherKey(path: key))
        _ = try folder.write("key.pem", two.text, mode: 0o600)
        #expect(try source.load().fingerprint == two.identity.fingerprint)
    }

    @Test("knows until when its certificate is valid")
    func expires() throws {
        let text = try SelfSignedCertificate(names: ["localhost"], notBefore: 1_700_000_000, lifetime: 86_400).text
        let identity = try ServerIdentity(certificates: text, key: text, place: ("a", "a"))
        #expect(identity.expires == 1_700_086_400)
    }

    @Test("is refused where others can read the key or write the folder")
    func modes() throws {
        let folder = try TestFolder()
        let text = TestIdentity.localhost.text
        for mode in [0o604, 0o644, 0o666, 0o602, 0o601] {
            let key = try folder.write("key.pem", text, mode: mode)
            let source = ServerIdentitySource.files(certificates: key, key: key)
            #expect(error(source) == .keyReadableByAll(path: key), "\(mode)")
        }
        let directory = folder.path + "/kept"
        let source = ServerIdentitySource.kept(directory: directory, names: [])
        _ = try source.load()
        try folder.setMode(directory + "/identity.pem", 0o644)
        #expect(error(source) == .keyReadableByAll(path: directory + "/identity.pem"))
        try folder.setMode(directory + "/identity.pem", 0o600)
        try folder.setMode(directory, 0o770)
        #expect(error(source) == .folderWritableByOthers(path: directory))
        try folder.setMode(directory, 0o755)
        #expect(error(source) == nil)
    }

    @Test("of what is none says why")
    func broken() throws {
        let folder = try TestFolder()
        let text = TestIdentity.localhost.text
        let good = try folder.write("good.pem", text)
        let empty = try folder.write("empty.pem", [])
        let half = try folder.write("half.pem", Array(text[..<200]))
        let end = try #require(text.firstRange(of: Array("-----BEGIN PRIVATE".utf8))).lowerBound
        let public_ = try folder.write("public.pem", Array(text[..<end]))
        let spoiled = try folder.write("spoiled.pem", Array(text[..<end]) + Array(text[..<300]))
        let missing = folder.path + "/missing.pem"
        let pipe = folder.path + "/pipe"
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        let locked = Array(
            """
            -----BEGIN ENCRYPTED PRIVATE KEY-----
            MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgAAAAAAAAAAAICCAAw
            -----END ENCRYPTED PRIVATE KEY-----
            """.utf8)
        let encrypted = try folder.write("encrypted.pem", locked)
        for (certificates, key, expected) in [
            (missing, good, ServerIdentityError.unreadable(path: missing, errno: ENOENT)),
            (good, missing, .unreadable(path: missing, errno: ENOENT)),
            (folder.path, good, .notAFile(path: folder.path)),
            (good, pipe, .notAFile(path: pipe)), (empty, good, .notACertificate(path: empty)),
            (half, good, .notACertificate(path: half)), (spoiled, good, .notACertificate(path: spoiled)),
            (good, empty, .notAKey(path: empty)), (good, public_, .notAKey(path: public_)),
            (good, encrypted, .notAKey(path: encrypted)),
        ] {
            let found = error(.files(certificates: certificates, key: key))
            #expect(found == expected)
            #expect(found?.description.contains("'") == true)
        }
        #expect(error(.kept(directory: good, names: [])) == .unwritable(path: good, errno: ENOTDIR))
        #expect(error(.kept(directory: good + "/x", names: [])) == .unwritable(path: good + "/x", errno: ENOTDIR))
    }
}
