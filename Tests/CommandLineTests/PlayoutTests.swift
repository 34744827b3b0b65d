import Foundation
import Testing
import VoiceDevices

@Suite("A captured call is played out")
struct PlayoutTests {
    /// An RTP packet in a capture.
    private struct Captured {
        var milliseconds: Int
        var number: Int
        var payloadType: UInt8 = 111
        var source: UInt32 = 7
        /// 20 ms of CELT whose frame decodes to silence (RFC 6716 section 3.1).
        var payload: [UInt8] = [0xF8, 0xFF, 0xFE]
        /// Instead of the one that goes on at the pace of speech.
        var timestamp: UInt32?
    }

    /// A capture of raw IPv4 with `packets` packets of Opus silence, 20 ms apart.
    private func capture(packets: Int, payloadType: UInt8 = 111) -> [UInt8] {
        capture((0..<packets).map { Captured(milliseconds: $0 * 20, number: $0, payloadType: payloadType) })
    }

    /// A capture of raw IPv4 with these packets.
    private func capture(_ packets: [Captured]) -> [UInt8] {
        PacketCapture.file(
            packets.map { packet in
                var rtp: [UInt8] = [0x80, packet.payloadType] + PacketCapture.big(UInt16(packet.number))
                rtp += PacketCapture.big(packet.timestamp ?? UInt32(packet.number * 960))
                rtp += PacketCapture.big(packet.source)
                return (packet.milliseconds * 1_000, PacketCapture.ipv4(rtp + packet.payload))
            })
    }

    @Test("into a WAV file of the call's length, with a summary as the last line")
    func plays() throws {
        let folder = try TestFolder()
        let pcap = try folder.write(capture(packets: 100), to: "call.pcap")
        let result = try ChildProcess.run(["playout", "--pcap", pcap, "--out", folder("o.wav"), "--json"])
        #expect(result.exitCode == 0, "\(result.standardError)")
        #expect(result.json?.last?["type"] as? String == "summary")
        let seconds = Double(try AudioFile.read(folder("o.wav")).samples.count) / 48_000
        #expect(abs(seconds - 2) < 0.3)
    }

    @Test("by each preset that an engine's jitter buffer has", arguments: ["conversation", "lowDelay", "robust"])
    func presets(_ preset: String) throws {
        let folder = try TestFolder()
        let pcap = try folder.write(capture(packets: 20), to: "call.pcap")
        let result = try ChildProcess.run(["playout", "--pcap", pcap, "--out", folder("o.wav"), "--preset", preset])
        #expect(result.exitCode == 0, "\(result.standardError)")
    }

    @Test("of which nothing can be played: what is not known is not told as 0")
    func unplayable() throws {
        let folder = try TestFolder()
        // A code 3 packet without its count of frames (RFC 6716 section 3.2.5)
        let pcap = try folder.write(
            capture([Captured(milliseconds: 0, number: 0, payload: [0xFF])]), to: "broken.pcap")
        let arguments = ["playout", "--pcap", pcap, "--out", folder("o.wav")]
        let result = try ChildProcess.run(arguments + ["--json"])
        #expect(result.exitCode == 0, "\(result.standardError)")
        let summary = try #require(result.json?.last)
        #expect(summary["packets_malformed"] as? Int == 1)
        for key in ["delay_mean_ms", "delay_p95_ms", "concealed_ratio"] { #expect(summary[key] == nil, "\(key)") }
        let told = try ChildProcess.run(arguments)
        #expect(told.standardOutput.contains("time in the buffer   not known"), "\(told.standardOutput)")
    }

    @Test("with a log and a drawing of what happened, where they are asked for")
    func logs() throws {
        let folder = try TestFolder()
        let pcap = try folder.write(capture(packets: 100), to: "call.pcap")
        let (log, plot) = (folder("log.csv"), folder("plot.svg"))
        let result = try ChildProcess.run(
            ["playout", "--pcap", pcap, "--out", folder("o.wav"), "--preset", "robust", "--log", log, "--plot", plot])
        #expect(result.exitCode == 0, "\(result.standardError)")
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        #expect(lines.first == "time_ms,event,sequence,lateness_ms,target_ms,level_ms,length_ms")
        #expect(lines.filter { $0.contains(",arrive,") }.count == 100)
        #expect(lines.filter { $0.contains(",play,") }.count == 100)
        #expect(lines.allSatisfy { $0.filter { $0 == "," }.count == 6 })
        // The drawing tells the capture's name and the figures, and not the path
        let drawing = try String(contentsOfFile: plot, encoding: .utf8)
        #expect(drawing.hasPrefix("<svg"))
        #expect(drawing.contains("Playout of call.pcap, robust"))
        #expect(drawing.contains("100 packets received, 0 lost"))
        #expect(!drawing.contains(folder.path))
        let refused = ["playout", "--pcap", pcap, "--out", folder("o.wav"), "--log", pcap]
        expectFailure(try ChildProcess.run(refused), code: 64, saying: "choose another file")
    }

    @Test("and refuses to write one of its files over another, by whatever name", arguments: ["new", "old"])
    func sameFile(_ name: String) throws {
        let folder = try TestFolder()
        let pcap = try folder.write(capture(packets: 20), to: "call.pcap")
        try folder.write([], to: "old")
        let twice = ["playout", "--pcap", pcap, "--out", folder("o.wav"), "--log", folder(name)]
        let result = try ChildProcess.run(twice + ["--plot", folder.path + "/./" + name])
        expectFailure(result, code: 64, saying: "is the file of --log too; choose another one")
        #expect(!FileManager.default.fileExists(atPath: folder("o.wav")))
    }

    @Test("as far as it can be read, which is told")
    func truncated() throws {
        let folder = try TestFolder()
        let pcap = try folder.write(capture(packets: 100).dropLast(10), to: "cut.pcap")
        let result = try ChildProcess.run(["playout", "--pcap", pcap, "--out", folder("o.wav"), "--json"])
        #expect(result.exitCode == 0, "\(result.standardError)")
        #expect(result.standardError.contains("is damaged after packet 99"))
        #expect(result.json?.last?["packets_received"] as? Int == 99)
        #expect((result.json?.last?["capture_cut"] as? String)?.contains("damaged after packet 99") == true)
    }

    @Test("up to a leap of the capture's clock, instead of years of silence", arguments: [2_000_000_000, 86_400])
    func leap(seconds: Int) throws {
        let folder = try TestFolder()
        let packets = (0..<50).map { Captured(milliseconds: $0 * 20 + ($0 < 40 ? 0 : seconds * 1000), number: $0) }
        let pcap = try folder.write(capture(packets), to: "leap.pcap")
        let result = try ChildProcess.run(["playout", "--pcap", pcap, "--out", folder("o.wav"), "--json"])
        #expect(result.exitCode == 0, "\(result.standardError)")
        #expect(result.standardError.contains("packet 41 of the stream is dated \(seconds) s after the one before"))
        #expect(result.json?.last?["packets_received"] as? Int == 40)
        #expect(try AudioFile.read(folder("o.wav")).samples.count < 2 * 48_000)
    }

    @Test("without a log or a drawing of a call that is too long to be kept", arguments: ["--log", "--plot"])
    func tooLongForLog(option: String) throws {
        // Given four packets over two and a half hours, whose every 5 ms would be a line
        let folder = try TestFolder()
        let packets = (0..<4).map { Captured(milliseconds: $0 * 3_000_000, number: $0) }
        let pcap = try folder.write(capture(packets), to: "long.pcap")
        // When they are to be logged
        let arguments = ["playout", "--pcap", pcap, "--out", folder("o.wav"), option, folder("log")]
        let result = try ChildProcess.run(arguments)
        // Then this is refused before anything is written
        expectFailure(result, code: 66, saying: "the stream lasts 2.5 h, and \(option) reaches 2 h")
        #expect(!FileManager.default.fileExists(atPath: folder("o.wav")))
        #expect(!FileManager.default.fileExists(atPath: folder("log")))
    }

    @Test("up to a time stamp that is no date")
    func impossibleTime() throws {
        let folder = try TestFolder()
        let times: [UInt64] = [0, 1, 0x7FFF_FFFF_FFFF_FFFF, 2]
        let packets = times.enumerated().map { number, time in
            (time, PacketCapture.ipv4([0x80, 111, 0, UInt8(number), 0, 0, 0, 0, 0, 0, 0, 7, 0xF8, 0xFF, 0xFE]))
        }
        let pcap = try folder.write(PacketCapture.wholeSeconds(packets), to: "never.pcapng")
        let result = try ChildProcess.run(["playout", "--pcap", pcap, "--out", folder("o.wav"), "--json"])
        #expect(result.exitCode == 0, "\(result.standardError)")
        #expect(result.standardError.contains("after packet 2 (its time stamp is no date)"), "\(result.standardError)")
        #expect(result.json?.last?["packets_received"] as? Int == 2)
    }

    @Test("with the packets that repeat earlier ones, bursts of loss restored from them")
    func redundant() throws {
        // Given our own call: plain packets, and from the 50th on each with copies of the two before; then every fifth
        // and sixth lost
        let folder = try TestFolder()
        let silence: [UInt8] = [0xF8, 0xFF, 0xFE]
        let packets = (0..<200).compactMap { number -> Captured? in
            guard number >= 50 else { return Captured(milliseconds: number * 20, number: number) }
            guard number < 60 || number % 6 < 4 else { return nil }
            // Offsets of 1920 and 960 in 14 bits, 3 bytes each (RFC 2198 section 3)
            let headers: [UInt8] = [0x80 | 111, 30, 0, 3, 0x80 | 111, 15, 0, 3, 111]
            return Captured(
                milliseconds: number * 20, number: number, payloadType: 112,
                payload: headers + silence + silence + silence)
        }
        let pcap = try folder.write(capture(packets), to: "red.pcap")
        let result = try ChildProcess.run(["playout", "--pcap", pcap, "--out", folder("o.wav"), "--json"])
        #expect(result.exitCode == 0, "\(result.standardError)")
        let summary = try #require(result.json?.last)
        // Then all is heard that came, and the losses are told
        #expect(summary["packets_received"] as? Int == packets.count)
        #expect(summary["packets_lost"] as? Int == 46)
        #expect(try AudioFile.read(folder("o.wav")).samples.count > 48_000 * 39 / 10)
        #expect(summary["fec_recovered"] as? Int ?? 0 > 30)
    }

    @Test("of the stream that is named", arguments: ["9", "0x9"])
    func ssrc(number: String) throws {
        let folder = try TestFolder()
        let longer = (0..<100).map { Captured(milliseconds: $0 * 20, number: $0) }
        let shorter = (0..<50).map { Captured(milliseconds: $0 * 20 + 5, number: $0, source: 9) }
        let other = (0..<3).map { Captured(milliseconds: $0 * 20, number: 500 + $0, payloadType: 13, source: 9) }
        let pcap = try folder.write(capture(longer + shorter + other), to: "two.pcap")
        let first = ["playout", "--pcap", pcap, "--out", folder("o.wav"), "--json"]
        let usual = try ChildProcess.run(first)
        #expect(usual.json?.last?["packets_received"] as? Int == 100)
        #expect(usual.standardError.contains("--ssrc"))
        let named = try ChildProcess.run(first + ["--ssrc", number])
        #expect(named.json?.last?["packets_received"] as? Int == 50)
        // What of the stream is not heard is told
        #expect(named.standardError.contains("13 (3 packets)"))
        expectFailure(try ChildProcess.run(first + ["--ssrc", "10"]), code: 66, saying: "no stream 10")
        expectFailure(try ChildProcess.run(first + ["--ssrc", "ten"]), code: 64, saying: "no synchronization source")
    }

    @Test("with as short a note of the streams to choose from, however many there are")
    func manyStreams() throws {
        let folder = try TestFolder()
        let packets = (0..<1_000).map { Captured(milliseconds: $0, number: 0, source: UInt32($0 + 1)) }
        let pcap = try folder.write(capture(packets), to: "many.pcap")
        let result = try ChildProcess.run(["playout", "--pcap", pcap, "--out", folder("o.wav"), "--json"])
        #expect(result.json?.last?["packets_received"] as? Int == 1)
        #expect(result.standardError.contains("992 others") && result.standardError.utf8.count < 400)
    }

    @Test("and ends soon after the last packet, whatever the timestamps are")
    func leapingTimestamps() throws {
        let folder = try TestFolder()
        // Half the range of the timestamps from packet to packet
        let packets = (0..<100).map { number in
            Captured(milliseconds: number * 20, number: number, timestamp: UInt32(number) &* 0x7fff_ffff)
        }
        let pcap = try folder.write(capture(packets), to: "leaps.pcap")
        let result = try ChildProcess.run(["playout", "--pcap", pcap, "--out", folder("o.wav"), "--json"])
        let frames = try #require(result.json?.last?["frames"] as? Int)
        #expect((100...150).contains(frames))
    }

    @Test("or says what is wrong with the capture or the output")
    func refuses() throws {
        let folder = try TestFolder()
        let pcap = try folder.write(capture(packets: 100), to: "call.pcap")
        let cut = try folder.write(capture(packets: 1).dropLast(10), to: "cut.pcap")
        let other = try folder.write(capture(packets: 10, payloadType: 96), to: "other.pcap")
        let text = try folder.write(Array("no capture\n".utf8), to: "text")
        let cases: [(pcap: String, out: String, code: Int32, saying: String)] = [
            (folder("absent"), folder("o.wav"), 66, "No such file"),
            (text, folder("o.wav"), 66, "cannot be read as a capture"),
            (folder.path, folder("o.wav"), 66, "is a folder"), (cut, folder("o.wav"), 66, "is damaged after packet 0"),
            (other, folder("o.wav"), 66, "--payload-type"), (pcap, pcap, 64, "choose another file"),
            (pcap, folder("absent/o.wav"), 1, "there is no folder"), (pcap, "/dev/full", 1, "the disk is full"),
        ]
        for (pcap, out, code, saying) in cases {
            expectFailure(try ChildProcess.run(["playout", "--pcap", pcap, "--out", out]), code: code, saying: saying)
        }
    }
}
