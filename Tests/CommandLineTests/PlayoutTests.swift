import Foundation
import Testing
import VoiceDevices

@Suite("A captured call is played out")
struct PlayoutTests {
    /// A capture of raw IPv4 with `packets` packets of Opus silence, 20 ms apart.
    private func capture(packets: Int, payloadType: UInt8 = 111) -> [UInt8] {
        func big<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
            stride(from: Value.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
        }
        func little(_ value: UInt32) -> [UInt8] { big(value).reversed() }
        // The pcap file header of libpcap's savefile format; link type 101 is raw IP.
        var bytes = little(0xA1B2_C3D4) + [2, 0, 4, 0] + little(0) + little(0) + little(65_535) + little(101)
        for number in 0..<packets {
            // A packet of 20 ms of CELT whose frame decodes to silence (RFC 6716 section 3.1).
            let rtp =
                [0x80, payloadType] + big(UInt16(number)) + big(UInt32(number * 960)) + big(UInt32(7)) + [
                    0xF8, 0xFF, 0xFE,
                ]
            let udp = big(UInt16(5_000)) + big(UInt16(5_002)) + big(UInt16(8 + rtp.count)) + [0, 0] + rtp
            let ip =
                [0x45, 0] + big(UInt16(20 + udp.count)) + [0, 0, 0, 0, 64, 17, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1] + udp
            let (seconds, rest) = (number / 50, number % 50 * 20_000)
            bytes +=
                little(UInt32(seconds)) + little(UInt32(rest)) + little(UInt32(ip.count)) + little(UInt32(ip.count))
                + ip
        }
        return bytes
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
        #expect(try String(contentsOfFile: plot, encoding: .utf8).hasPrefix("<svg"))
        let refused = ["playout", "--pcap", pcap, "--out", folder("o.wav"), "--log", pcap]
        expectFailure(try ChildProcess.run(refused), code: 64, saying: "choose another file")
    }

    @Test("or says what is wrong with the capture or the output")
    func refuses() throws {
        let folder = try TestFolder()
        let pcap = try folder.write(capture(packets: 100), to: "call.pcap")
        let cut = try folder.write(capture(packets: 100).dropLast(10), to: "cut.pcap")
        let other = try folder.write(capture(packets: 10, payloadType: 96), to: "other.pcap")
        let text = try folder.write(Array("no capture\n".utf8), to: "text")
        let cases: [(pcap: String, out: String, code: Int32, saying: String)] = [
            (folder("absent"), folder("o.wav"), 66, "No such file"),
            (text, folder("o.wav"), 66, "cannot be read as a capture"),
            (folder.path, folder("o.wav"), 66, "is a folder"), (cut, folder("o.wav"), 66, "is damaged after packet 99"),
            (other, folder("o.wav"), 66, "--payload-type"), (pcap, pcap, 64, "choose another file"),
            (pcap, folder("absent/o.wav"), 1, "there is no folder"), (pcap, "/dev/full", 1, "the disk is full"),
        ]
        for (pcap, out, code, saying) in cases {
            expectFailure(try ChildProcess.run(["playout", "--pcap", pcap, "--out", out]), code: code, saying: saying)
        }
    }
}
