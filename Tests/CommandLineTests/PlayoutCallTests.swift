import Foundation
import Testing
import VoiceDevices
import VoiceEngine
import VoiceRooms
import VoiceWire

@Suite("A capture of our own call")
struct PlayoutCallTests {
    /// Numbers of the packets that begin a burst of loss which no copies reach across.
    private static let longBursts = [350, 500, 650]
    private static let longBurst = 20

    /// Three packets of every 25 from the third second on, and the long bursts.
    private static func isLost(_ number: Int) -> Bool {
        number >= 150 && number % 25 < 3 || longBursts.contains { $0..<$0 + longBurst ~= number }
    }

    @Test("with bursts of loss is played whole, with the packets that repeat earlier ones as they begin")
    func bursts() throws {
        // Given a call whose sender begins to repeat packets when its listener reports the losses
        let call = try OwnCall(.seconds(16), isLost: Self.isLost)
        let sound = call.sound
        let types = sound.compactMap { $0.header?.payloadType }
        let repeating = try #require(types.firstIndex(of: RoomProtocol.redundantPayloadType))
        #expect(repeating > 150 && types[..<repeating].allSatisfy { $0 == RoomProtocol.payloadType })
        #expect(types.count { $0 == RoomProtocol.redundantPayloadType } > 200)
        #expect(call.arrivals.count > sound.count)
        let folder = try TestFolder()
        let packets = call.arrivals.map { arrival in
            (microseconds: Int(arrival.time / .microseconds(1)), bytes: PacketCapture.ipv4(arrival.datagram))
        }
        let pcap = try folder.write(PacketCapture.file(packets), to: "own.pcap")
        // When it is played
        let result = try ChildProcess.run(
            ["playout", "--pcap", pcap, "--out", folder("o.wav"), "--log", folder("log.csv"), "--json"])
        #expect(result.exitCode == 0, "\(result.standardError)")
        let summary = try #require(result.json?.last)
        let events = try String(contentsOfFile: folder("log.csv"), encoding: .utf8).split(separator: "\n").dropFirst()
            .map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        // Then every packet is put in, in the order in which they came
        #expect(summary["packets_received"] as? Int == sound.count)
        #expect(summary["packets_malformed"] as? Int == 0 && summary["packets_duplicated"] as? Int == 0)
        let put = events.filter { $0[1] == "arrive" }.map { UInt16($0[2]) }
        let isInOrder = put == sound.map { $0.header?.sequenceNumber }
        #expect(isInOrder)
        // And what is missing is what was lost
        let first = try #require(sound.first?.header?.sequenceNumber)
        let last = try #require(sound.last?.header?.sequenceNumber)
        let lost = Int(last &- first) + 1 - sound.count
        #expect(lost == (0..<call.sent.count).count(where: Self.isLost) && lost > 100)
        #expect(summary["packets_lost"] as? Int == lost)
        // And each is played or restored or made up for, of the long bursts nearly all
        func milliseconds(_ kinds: Substring...) -> Double {
            events.filter { kinds.contains($0[1]) }.compactMap { Double($0[6]) }.reduce(0, +)
        }
        let (played, restored) = (milliseconds("play"), milliseconds("restore"))
        let madeUp = milliseconds("conceal", "bridge")
        #expect(abs(played - Double(sound.count * 20)) < 100)
        #expect(abs(restored + madeUp - Double(lost * 20)) < 150)
        #expect(madeUp > Double(Self.longBursts.count * (Self.longBurst - 5) * 20))
        #expect(restored > 500)
        // And of what came nothing is dropped but the copies behind a long burst, whose time had been made up
        let copies = Double(Self.longBursts.count * SenderAdaptationPolicy.adaptive.maximumCopies * 20)
        #expect(summary["skipped_ms"] as? Double ?? .infinity <= copies)
        // And the sound is as long as the call
        let span = try #require(sound.last?.time) - (try #require(sound.first?.time)) + .milliseconds(20)
        let seconds = Double(try AudioFile.read(folder("o.wav")).samples.count) / 48_000
        #expect(abs(seconds - span / .seconds(1)) < 0.3)
    }
}
