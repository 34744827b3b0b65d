import Testing

@Suite("Doctor and devices for scripts")
struct DoctorTests {
    @Test("every line is JSON with schema and type, and the last is the summary", arguments: ["doctor", "devices"])
    func lines(_ command: String) throws {
        let result = try ChildProcess.run([command, "--json"])
        #expect(result.exitCode == 0, "\(result.standardError)")
        let lines = try #require(result.json)
        for line in lines { #expect(line["schema"] as? String == "duplexvoice.\(command)/1") }
        #expect(lines.last?["type"] as? String == "summary")
        #expect(lines.count { $0["type"] as? String == "summary" } == 1)
    }

    @Test("the doctor's counts are those of its findings, and it knows the processing library and the codec")
    func doctor() throws {
        let lines = try #require(try ChildProcess.run(["doctor", "--json"]).json)
        let findings = lines.dropLast()
        for state in ["ok", "degraded", "failing"] {
            #expect(lines.last?[state] as? Int == findings.count { $0["state"] as? String == state })
        }
        let subjects = findings.compactMap { $0["subject"] as? String }
        for subject in [
            "real-time priority", "memory lock", "clock source", "voice processing", "codec", "sound devices",
        ] {
            #expect(subjects.contains(subject))
        }
        let libraries = findings.first { $0["subject"] as? String == "libraries" }?["detail"] as? String
        #expect(libraries?.contains("libopus.so") == true)
    }
}
