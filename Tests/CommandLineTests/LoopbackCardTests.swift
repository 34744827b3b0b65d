import Foundation
import TestCases
import Testing

@Suite("The loopback command on a virtual card")
struct LoopbackCardTests {
    /// In virtual time, so that no wake-up of a busy machine is too late.
    private func measure(_ card: String, _ arguments: String...) throws -> ChildProcess.Result {
        let virtual = try VirtualCard()
        let name = "vcard:ID=a,VIRTUAL=1" + card
        return try ChildProcess.run(
            ["loopback", "--json", "--rounds", "3", "--seed", "1", "--capture", name, "--playback", name] + arguments,
            environment: virtual.environment)
    }

    private func summary(_ result: ChildProcess.Result) throws -> [String: Any] {
        let lines = try #require(result.json, "\(result.standardOutput)")
        let summary = try #require(lines.last)
        #expect(summary["type"] as? String == "summary")
        #expect(lines.allSatisfy { $0["schema"] as? String == "duplexvoice.loopback/1" })
        return summary
    }

    @Test(
        "the round trip is the playback buffer and what lies behind it",
        arguments: cases([(120, 0), (240, 100), (480, 1)]))
    func roundTrip(period: Int, delay: Int) throws {
        let result = try measure(",DELAY_FRAMES=\(delay)", "--period", "\(period)")
        #expect(result.exitCode == 0, "\(result.standardError)")
        let summary = try summary(result)
        let expected = Double(2 * period + delay) / 48
        for key in ["p50_ms", "p95_ms", "max_ms"] {
            #expect(abs(try #require(summary[key] as? Double) - expected) < 0.05, "\(key) of \(expected)")
        }
        #expect(summary["confidence"] as? Double == 1)
        #expect(summary["rounds"] as? Int == 3)
        #expect(summary["xruns"] as? Int == 0)
        let stages = try #require(summary["stages"] as? [String: Double])
        #expect(abs(try #require(stages["playback_buffer_ms"]) - Double(2 * period) / 48) < 1e-6)
        // The other stages rest on the plugin's time stamps, which are those of the real clock, also in virtual time.
    }

    @Test("a limit that is missed is exit code 1, with the summary")
    func failOver() throws {
        let result = try measure("", "--fail-over", "9.5")
        expectFailure(result, code: 1, saying: "10.00 ms")
        #expect(try summary(result)["p95_ms"] != nil)
    }

    @Test("a microphone on the second input is measured; one on inputs that the card lacks is refused with what it has")
    func channels() throws {
        #expect(try measure("", "--capture-channels", "2").exitCode == 0)
        expectFailure(try measure("", "--capture-channels", "3-4"), code: 69, saying: "4 channels; it offers 2")
    }

    @Test("a muted microphone is not measured: exit code 69")
    func muted() throws {
        let result = try measure(",GAIN=0")
        expectFailure(result, code: 69, saying: "not measured")
        #expect(try summary(result)["p50_ms"] == nil)
    }

    @Test("a round that an xrun meets is done again, and told")
    func xrun() throws {
        // Given an xrun 2.2 s after each start of the card, when a first round is over: 0.5 s of settling, 0.4 s until
        // the pulse, 1 s of listening
        let result = try measure(",XRUN_AFTER_S=2.2")
        #expect(result.exitCode == 0, "\(result.standardError)")
        let summary = try summary(result)
        #expect(abs(try #require(summary["max_ms"] as? Double) - 10) < 0.05)
        #expect(try #require(summary["xruns"] as? Int) > 0)
        #expect(try #require(summary["rounds_disturbed"] as? Int) > 0)
        #expect(summary["rounds_found"] as? Int == 3)
    }

    @Test("Control-C ends it with the rounds that are over")
    func interrupted() throws {
        let virtual = try VirtualCard()
        let name = "vcard:ID=a,VIRTUAL=1"
        var child = try ChildProcess(
            ["loopback", "--json", "--rounds", "1000", "--capture", name, "--playback", name],
            environment: virtual.environment)
        _ = try child.event("round")
        child.interrupt()
        let result = child.wait()
        #expect(result.exitCode == 0, "\(result.standardError)")
        let summary = try summary(result)
        #expect(abs(try #require(summary["p50_ms"] as? Double) - 10) < 0.05)
        #expect(try #require(summary["rounds_done"] as? Int) < 1_000)
        #expect(summary["confidence"] as? Double == 1)
    }
}
