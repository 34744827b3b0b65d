import Foundation
import Testing

@Suite("Devices that are listed and watched, in real time")
struct DevicesLiveTests {
    @Test("a device that can be used is told with its rates, channels and periods; one that is held, with its holder")
    func listed() throws {
        // Given a card that another program captures from
        let virtual = try VirtualCard(default: "vcard:ID=a")
        let holder = try ChildProcess(
            ["loopback", "--rounds", "1000", "--capture", "vcard:ID=b", "--playback", "vcard:ID=b"],
            environment: virtual.environment)
        defer {
            holder.interrupt()
            _ = holder.wait()
        }
        let result = try ChildProcess.run(["devices", "--json"], environment: virtual.environment)
        #expect(result.exitCode == 0)
        let lines = try #require(result.json)
        let card = try #require(lines.first { ($0["name"] as? String)?.contains("vcard") == true })
        let capture = try #require(card["capture"] as? [String: Any])
        #expect(capture["state"] as? String == "available")
        #expect((capture["sample_rates"] as? [Int])?.contains(48_000) == true)
        #expect((capture["period_frames"] as? [Int])?.count == 2)
        #expect(lines.last?["devices"] as? Int == lines.count - 1)
        #expect(lines.last?["arrivals"] == nil)
    }

    @Test("a watch that is interrupted ends well, with the summary as its last line")
    func interrupted() throws {
        let virtual = try VirtualCard(default: "vcard:ID=a")
        var child = try ChildProcess(["devices", "--watch", "--json"], environment: virtual.environment)
        _ = try child.event("device")
        child.interrupt()
        let result = child.wait()
        #expect(result.exitCode == 0, "\(result.standardError)")
        let summary = try #require(result.json?.last)
        #expect(summary["type"] as? String == "summary")
        #expect(summary["arrivals"] as? Int == 0 && summary["departures"] as? Int == 0)
    }

    @Test("what arrives and departs while it is watched is told once, as it happens")
    func changes() throws {
        // Given a machine whose configuration is about to gain a PCM
        let virtual = try VirtualCard(default: "vcard:ID=a")
        var child = try ChildProcess(["devices", "--watch", "--json"], environment: virtual.environment)
        _ = try child.event("device")
        let more = "pcm.studio { type vcard id s hint { show on description \"A studio\" } }\n"
        try virtual.configure(adding: more)
        let arrival = try child.event("arrived")
        #expect(arrival["name"] as? String == "studio")
        #expect(arrival["description"] as? String == "A studio")
        #expect((arrival["capture"] as? [String: Any])?["state"] as? String == "available")
        #expect((arrival["time_s"] as? Double ?? 0) > 0)
        // When it goes again
        try virtual.configure(adding: "")
        let departure = try child.event("departed")
        #expect(departure["name"] as? String == "studio")
        child.interrupt()
        let summary = try #require(child.wait().json?.last)
        #expect(summary["arrivals"] as? Int == 1 && summary["departures"] as? Int == 1)
    }
}
