import Testing

@Suite("Doctor and devices for scripts, in real time")
struct DoctorLiveTests {
    @Test(
        "every line is JSON with schema and type, and the last is the summary",
        arguments: [["doctor", "--quick"], ["devices"]])
    func lines(_ command: [String]) throws {
        let result = try ChildProcess.run(command + ["--json"])
        #expect(result.exitCode == 0, "\(result.standardError)")
        let lines = try #require(result.json)
        for line in lines { #expect(line["schema"] as? String == "duplexvoice.\(command[0])/1") }
        #expect(lines.last?["type"] as? String == "summary")
        #expect(lines.count { $0["type"] as? String == "summary" } == 1)
    }

    @Test("the doctor's counts are those of its findings, and every part of the machine has one")
    func doctor() throws {
        let lines = try #require(try ChildProcess.run(["doctor", "--quick", "--json"]).json)
        let findings = lines.dropLast()
        for state in ["ok", "degraded", "failing"] {
            #expect(lines.last?[state] as? Int == findings.count { $0["state"] as? String == state })
        }
        let subjects = findings.compactMap { $0["subject"] as? String }
        for subject in [
            "real-time priority", "memory lock", "kernel", "clock source", "CPU governor", "wake-up at SCHED_FIFO",
            "wake-up of ordinary threads", "sound devices", "default device", "sound server", "voice processing",
            "codec",
            "webrtc-audio-processing", "opus", "alsa-lib", "speexdsp",
        ] {
            #expect(subjects.count { $0 == subject } == 1, "\(subject)")
        }
        // What is degraded or failing says what to do.
        for finding in findings where finding["state"] as? String != "ok" {
            #expect((finding["remedy"] as? String)?.isEmpty == false, "\(finding)")
        }
        let opus = findings.first { $0["subject"] as? String == "opus" }?["detail"] as? String
        #expect(opus?.contains("libopus.so") == true)
    }

    @Test("wake-ups are measured: at SCHED_FIFO where that is granted, and of an ordinary thread in any case")
    func wakeUps() throws {
        let lines = try #require(try ChildProcess.run(["doctor", "--quick", "--silent", "--json"]).json)
        func values(_ subject: String) -> [String: Double]? {
            lines.first { $0["subject"] as? String == subject }?["values"] as? [String: Double]
        }
        let granted = lines.first { $0["subject"] as? String == "real-time priority" }?["state"] as? String == "ok"
        #expect((values("wake-up at SCHED_FIFO") != nil) == granted)
        for measured in [values("wake-up at SCHED_FIFO"), values("wake-up of ordinary threads")].compactMap(\.self) {
            let (p50, p99) = (try #require(measured["late_p50_ms"]), try #require(measured["late_p99_ms"]))
            let most = try #require(measured["late_max_ms"])
            #expect(0 < p50 && p50 <= p99 && p99 <= most)
            #expect(measured["wakes"] == 500)
        }
        #expect(values("wake-up of ordinary threads") != nil)
    }

    @Test("the echo of a card is examined over its threads")
    func echo() throws {
        // Given a card whose loudspeaker is heard in its microphone 20 ms later, 10 dB weaker
        let virtual = try VirtualCard(default: "vcard:ID=a,DELAY_FRAMES=960,GAIN=0.316")
        // When the doctor plays speech through it
        let result = try ChildProcess.run(["doctor", "--echo", "--json"], environment: virtual.environment)
        #expect(result.exitCode == 0, "\(result.standardError)")
        // Then it looks at what came back; what it makes of an echo is tested in virtual time
        let lines = try #require(result.json)
        #expect(lines.first?["subject"] as? String == "echo of default in default")
        let values = try #require(lines.first?["values"] as? [String: Double])
        #expect(values["xruns"] != nil && values["clipped_ratio"] != nil)
        #expect(lines.last?["type"] as? String == "summary")
    }
}
