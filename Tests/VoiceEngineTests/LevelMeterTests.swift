import Testing
import VoiceRealtime

@testable import VoiceEngine

@Suite("Level meters")
struct LevelMeterTests {
    /// Lets the rig's engine stop and gives all that was reported.
    private func reports(_ meter: LevelMeter, _ rig: FarEndRig) async -> [SoundLevels] {
        rig.core.stopDevice()
        var reports: [SoundLevels] = []
        for await levels in meter.levels { reports.append(levels) }
        return reports
    }

    @Test("report each interval, near and far, and the microphone also while muted")
    func levels() async throws {
        let rig = try FarEndRig()
        rig.run(blocks: 5)
        let meter = try rig.core.openMeter(every: .milliseconds(100))
        let agent = try rig.core.openFarEnd(FarEndConfiguration())
        try rig.core.send(.setMuted(true))
        // Given a square wave of -20 dBFS at the microphone, and one of -40 dBFS from an agent, for a second
        #expect(agent.offer((0..<48_000).map { $0 % 100 < 50 ? 0.01 : -0.01 }, utterance: 1) == 48_000)
        rig.run(blocks: 100) { $0 % 100 < 50 ? 0.1 : -0.1 }
        let reports = await reports(meter, rig)
        #expect((9...10).contains(reports.count))
        for (index, levels) in reports.enumerated() {
            #expect(levels.interval == .milliseconds(100))
            if index > 0 { #expect(levels.time == reports[index - 1].time + .milliseconds(100)) }
            #expect(abs(levels.captured.rms + 20) < 0.1 && abs(levels.captured.peak + 20) < 0.1)
            #expect(abs(levels.near.rms + 20) < 0.1)
            #expect(levels.captured.isSpeaking == nil && levels.near.isSpeaking == nil)
            if index > 0 { #expect(abs(levels.far.rms + 40) < 0.1 && levels.far.isSpeaking == true) }
        }
    }

    @Test("silence is -127 dBFS, and what is no number is no level")
    func silence() async throws {
        let rig = try FarEndRig()
        let meter = try rig.core.openMeter(every: .milliseconds(20))
        rig.run(blocks: 4) { _ in .nan }
        rig.run(blocks: 6)
        let reports = await reports(meter, rig)
        #expect(reports.count >= 4)
        for levels in reports {
            #expect(levels.captured.rms == -127 && levels.captured.peak == -127 && levels.far.rms == -127)
            #expect(levels.far.isSpeaking != true)
        }
    }

    @Test("intervals are bounded, and so is how many there are; closing one makes room")
    func bounded() throws {
        let rig = try FarEndRig()
        for interval in [Duration.zero, .milliseconds(9), .seconds(11)] {
            #expect(throws: EngineError.self) { try rig.core.openMeter(every: interval) }
        }
        var meters = try (0..<LevelMeter.maximumMeters).map { _ in try rig.core.openMeter(every: .seconds(1)) }
        #expect(throws: EngineError.self) { try rig.core.openMeter(every: .seconds(1)) }
        rig.run(blocks: 2)
        meters.removeLast()
        rig.run(blocks: 2)
        _ = try rig.core.openMeter(every: .seconds(1))
    }
}
