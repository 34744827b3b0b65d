import Foundation
import Testing

@Suite("The loopback command in real time")
struct LoopbackLiveTests {
    @Test("mouth to ear through two engines is found, and its stages are told")
    func engine() throws {
        // Given four cards in real time, with periods so long that few wake-ups are too late
        let virtual = try VirtualCard()
        let folder = try TestFolder()
        // 69: not measured
        let result = try attempted(until: { $0.exitCode != 69 }) {
            try ChildProcess.run(
                [
                    "loopback", "--through", "engine", "--json", "--rounds", "3", "--settle", "1", "--period", "960",
                    "--capture", "vcard:ID=a", "--mouth", "vcard:ID=a", "--playback", "vcard:ID=b", "--ear",
                    "vcard:ID=b", "--plot", folder("p.svg"),
                ], environment: virtual.environment)
        }
        // Then the pulse took at least a packet of 20 ms, the codec's 6.5 ms and one of the buffer's periods, 20 ms
        #expect(result.exitCode == 0, "\(result.standardError)")
        let summary = try #require(result.json?.last)
        #expect(try #require(summary["p50_ms"] as? Double) > 46)
        let stages = try #require(summary["stages"] as? [String: Double])
        #expect(stages["frame_ms"] == 20)
        #expect(stages.count == 10)
        #expect(FileManager.default.fileExists(atPath: folder("p.svg")))
    }

    @Test("where nothing comes back nothing is measured: exit code 69, and no figure")
    func silence() throws {
        // Given alsa-lib's null PCM, which takes all and gives silence
        let result = try ChildProcess.run(
            ["loopback", "--capture", "null", "--playback", "null", "--rounds", "2", "--json"],
            environment: ["ALSA_CONFIG_PATH": "/usr/share/alsa/alsa.conf"])
        // Then
        expectFailure(result, code: 69, saying: "not measured")
        let lines = try #require(result.json)
        let summary = try #require(lines.last)
        #expect(summary["type"] as? String == "summary")
        #expect(summary["schema"] as? String == "duplexvoice.loopback/1")
        for key in ["p50_ms", "p95_ms", "max_ms", "stages_sum_ms"] { #expect(summary[key] == nil, "\(key)") }
        #expect(summary["confidence"] as? Double == 0)
        #expect(summary["rounds"] as? Int == 2)
        #expect(lines.dropLast().allSatisfy { $0["type"] as? String == "round" && $0["ms"] == nil })
    }
}
