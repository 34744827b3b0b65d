import SimulatedCalls
import TestCases
import Testing
import VoiceEngine
import VoiceSimulation

/// An agent on side B talks over a loudspeaker to a silent person on side A: what A's engine tells of its echo
/// reference.
@Suite("What an engine tells of its echo reference", .enabled(if: isOptimised))
struct ReferenceIntegrityTests {
    /// What was told of A's reference until now.
    private static func changes(_ call: SimulatedCall) -> [ReferenceIntegrity.Change] {
        call.events(.a).compactMap { if case .referenceIntegrity(let change) = $0 { change } else { nil } }
    }

    private static func start(_ length: Double, seed: UInt64, playbackPPM: Double? = nil) throws -> SimulatedCall {
        var configuration = Talk(b: [0.5...length], length: length, seed: seed).overLoudspeakers
        configuration.engine = .voiceAgent
        configuration.engine.codeQuickly()
        if let playbackPPM { configuration.playbackDriftPPM = [playbackPPM, 0] }
        return try SimulatedCall(configuration)
    }

    @Test("nothing, as long as nothing is wrong: clocks that drift are followed")
    func nothing() throws {
        for (seed, ppm) in zip(Scenario.seeds, [80.0, nil, 80, nil] as [Double?]) {
            let call = try Self.start(12, seed: seed, playbackPPM: ppm)
            call.run(for: .seconds(12))
            #expect(Self.changes(call).isEmpty, "seed \(seed), \(ppm ?? 0) ppm: \(Self.changes(call))")
            let integrity = try #require(call.statistics(.a).uplink.referenceIntegrity)
            #expect(integrity.gaps == 0 && integrity.gainChanges == 0 && integrity.shifts == 0 && !integrity.isLate)
        }
    }

    /// What is told of a change of A's air after 6 of 12 s, which must be told once; and what A's statistics say then.
    private static func told(
        seed: UInt64, when change: (inout ConversationAir) -> Void
    ) throws -> (change: ReferenceIntegrity.Change?, integrity: ReferenceIntegrity?) {
        let call = try start(12, seed: seed)
        call.run(for: .seconds(6))
        call.withAir(.a, change)
        call.run(for: .seconds(6))
        let changes = changes(call)
        #expect(changes.count == 1, "seed \(seed): \(changes)")
        return (changes.first, call.statistics(.a).uplink.referenceIntegrity)
    }

    @Test("that somebody turned the volume")
    func volume() throws {
        for seed in Scenario.few {
            // When A's loudspeaker is turned down by 8 dB, then that is told once
            let (change, integrity) = try Self.told(seed: seed) { $0.echoReturnLossDecibels += 8 }
            guard case .gainChanged(let decibels) = change else {
                Issue.record("seed \(seed): \(String(describing: change))")
                continue
            }
            #expect(abs(decibels + 8) < 1.5, "seed \(seed)")
            #expect(integrity?.gainChanges == 1)
        }
    }

    @Test("that a device holds its sound longer than it says")
    func shift() throws {
        for seed in Scenario.few {
            // When A's device buffers 80 ms more, and its times do not tell, then that is told once
            let (change, integrity) = try Self.told(seed: seed) { $0.bulkDelayFrames += 3_840 }
            guard case .shifted(let shift) = change else {
                Issue.record("seed \(seed): \(String(describing: change))")
                continue
            }
            #expect(abs(shift / .milliseconds(1) - 80) < 1, "seed \(seed): \(shift)")
            #expect(integrity?.shifts == 1)
        }
    }
}
