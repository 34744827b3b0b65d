import ArgumentParser
import Foundation
import Testing
import VoicePeers
import VoiceRooms

@testable import VoiceTransport
@testable import duplex

@Suite("A room server and its operator")
struct RoomServeLogTests {
    @Test("Given one identity in two rooms, then each line tells which of them it is of, and when")
    func rooms() throws {
        let log = RoomServeLog(json: true)
        let (first, second) = (ParticipantID(rawValue: 1), ParticipantID(rawValue: 2))
        _ = log.line(.joined(first, identity: "anna", room: "attic"))
        _ = log.line(.joined(second, identity: "anna", room: "cellar"))
        // When the second is lost and comes back, and the first goes
        let lost = log.line(.lost(second))
        #expect(lost.participant == "anna" && lost.room == "cellar")
        #expect(lost.detail == "anna in room 'cellar' does not answer")
        #expect(log.line(.resumed(second)).room == "cellar")
        let left = log.line(.left(first, .left))
        #expect(left.participant == "anna" && left.room == "attic")
        #expect(left.detail == "anna in room 'attic' went out")
        // Then a script can tell when
        let json = try JSONSerialization.jsonObject(with: Data(Console.encode(left).utf8)) as? [String: Any]
        #expect((json?["time"] as? Int ?? 0) > 0)
    }

    @Test("A refused join tells from where it came")
    func refused() {
        let log = RoomServeLog(json: true)
        let peer = PeerID(slot: 1, generation: 1)
        let line = log.line(.refused(peer, .expired, others: 2, from: "192.0.2.1:7900"))
        #expect(line.address == "192.0.2.1:7900")
        #expect(line.detail.hasPrefix("a join from 192.0.2.1:7900 was refused, and 2 more before it: "))
    }

    @Test("A certificate that was not renewed is told of two weeks before it expires")
    func certificate() {
        let day: Int64 = 86_400
        #expect(CertificateWarning.text(expires: 100 * day, now: 86 * day) == nil)
        let soon = CertificateWarning.text(expires: 100 * day, now: 86 * day + 1)
        #expect(soon?.hasPrefix("warning: the certificate expires in 13 days; renew it") == true)
        let over = CertificateWarning.text(expires: 100 * day, now: 100 * day)
        #expect(over?.hasPrefix("warning: the certificate has expired") == true)
    }

    @Test("The last line tells what was refused, too")
    func last() {
        var statistics = RoomServerStatistics()
        (statistics.packetsReceived, statistics.packetsForwarded) = (2, 3)
        (statistics.unknownDatagrams, statistics.joinsRefused) = (1, 4)
        let text = RoomServed(statistics).text
        #expect(text == "received 2 packets, forwarded 3; rejected 1 datagram, refused 4 joins")
    }

    @Test("The capacities of the command line are the server's; without them it has its usual ones")
    func capacities() throws {
        let usual = try RoomServe.parse(["--dev"])
        #expect(usual.directory == RoomDirectoryConfiguration())
        let large = try RoomServe.parse(["--dev", "--room-capacity", "100", "--server-capacity", "2000"])
        #expect(large.directory == RoomDirectoryConfiguration(roomCapacity: 100, serverCapacity: 2_000))
    }

    @Test("A token grants both directions, or the one that was asked for")
    func directions() throws {
        let token = ["--room", "r", "--identity", "a"]
        let both = try RoomToken.parse(token).grants
        #expect(both.canPublish && both.canSubscribe)
        let listener = try RoomToken.parse(token + ["--listen-only"]).grants
        #expect(!listener.canPublish && listener.canSubscribe)
        let speaker = try RoomToken.parse(token + ["--speak-only"]).grants
        #expect(speaker.canPublish && !speaker.canSubscribe)
    }

    @Test("The control API's tokens are of a room server's own key file")
    func controlKeys() throws {
        let folder = try TestFolder()
        let text = Array("lobby: \(String(repeating: "a", count: 64))\n".utf8)
        let keys = try folder.write(text, to: "keys")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keys)
        let command = try ServeControl.parse(["--room-key-file", keys])
        let issuer = try #require(try command.roomIssuer())
        let grants = TokenGrants(identity: "a", room: "r")
        let token = try issuer.token(for: grants, notBefore: 0, expires: 100)
        let verifier = TokenVerifier(keys: try TokenKeyFile.keys(in: text))
        guard case .granted(let granted) = verifier.verdict(on: Array(token.utf8), unixTime: 50) else {
            Issue.record("the room does not take the token")
            return
        }
        #expect(granted.identity == "a" && granted.room == "r")
    }
}
