import Glibc
import SimulatedCalls
import TestCases
import Testing
import VoiceEngine
import VoiceRooms
import VoiceSimulation

@Suite("Interrupting an agent in a room")
struct InterruptionTests {
    /// The tones of an agent that says one thing until it has noticed that it was interrupted, and then another.
    private enum Tone {
        static let old = 1_000.0
        static let new = 1_500.0
    }

    private static func agent(oldUntil: Double, newFrom: Double, length: Double) -> SpeechSource {
        var samples = [Float](repeating: 0, count: Int(length * 48_000))
        for frame in frameRange(0.3...oldUntil) {
            samples[frame] = Float(0.2 * sin(2 * Double.pi * Tone.old * Double(frame) / 48_000))
        }
        for frame in frameRange(newFrom...length) {
            samples[frame] = Float(0.2 * sin(2 * Double.pi * Tone.new * Double(frame) / 48_000))
        }
        return SpeechSource(samples, repetition: .once)
    }

    /// A call of an agent, side A, with a listener, side B, over packets that are lost, late and out of order.
    private static func call(_ agent: SpeechSource, length: Double, seed: UInt64) throws -> SimulatedCall {
        var configuration = SimulatedCall.Configuration(talkers: [agent, SpeechSource([], repetition: .once)])
        configuration.rooms = [RoomConditions(), RoomConditions()]
        configuration.engine.backend = .bypass
        configuration.engine.codeQuickly()
        configuration.engine.processing = .bypass
        configuration.seed = seed
        configuration.longest = .seconds(length)
        configuration.publishing = .anyone
        configuration.network.baseDelay = .milliseconds(20)
        configuration.network.jitter = .gaussian(mean: .milliseconds(40), deviation: .milliseconds(20))
        configuration.network.loss = .bursts(0.05, meanBurst: 1.2)
        return try SimulatedCall(configuration)
    }

    /// How strong a tone is in a piece of sound, as an amplitude.
    private static func amplitude(of hertz: Double, in sound: ArraySlice<Float>) -> Double {
        var (real, imaginary) = (0.0, 0.0)
        for (index, sample) in sound.enumerated() {
            let angle = 2 * Double.pi * hertz * Double(index) / 48_000
            real += Double(sample) * cos(angle)
            imaginary += Double(sample) * sin(angle)
        }
        return 2 * (real * real + imaginary * imaginary).squareRoot() / Double(max(sound.count, 1))
    }

    @Test(
        "nothing of what was said before is heard again, and what is said next is heard from its beginning",
        arguments: cases(1...6))
    func neverAgain(seed: UInt64) throws {
        // Given an agent that names its utterance, and whose synthesiser delivers the old one for 600 ms more
        let (word, length) = (3.0, 6.0)
        let call = try Self.call(
            Self.agent(oldUntil: word + 0.6, newFrom: word + 0.7, length: length), length: length, seed: seed)
        call.run(for: .seconds(1))
        try call.beginUtterance(1, .a)
        call.run(for: .seconds(word) - call.elapsed)
        let before = call.recording(.b).speaker[frameRange(word - 0.5...word - 0.4)]
        #expect(Self.amplitude(of: Tone.old, in: before) > 0.05)
        // When the listener interrupts it
        try call.interrupt(try #require(call.ownStream(.a)), by: .b)
        // And the agent begins anew when it has noticed
        call.run(for: .milliseconds(690))
        try call.beginUtterance(2, .a)
        call.run(for: .seconds(length) - call.elapsed)
        // Then 40 ms later, fade, mix and card, it is silent until the agent begins anew
        let speaker = call.recording(.b).speaker
        let between = speaker[frameRange(word + 0.04...word + 0.7)].map { abs($0) }.max() ?? 1
        #expect(between < 1e-3, "\(between), seed \(seed)")
        // And no packet of the old one is there ever again: of one that lay across two pieces each would have 0.1.
        // Where the new one begins, or a loss is concealed, it spreads over some of its strength; measured up to 0.062
        for start in stride(from: word + 0.7, to: length - 0.06, by: 0.02) {
            let old = Self.amplitude(of: Tone.old, in: speaker[frameRange(start...start + 0.02)])
            #expect(old < 0.09, "\(old) at \(start) s, seed \(seed)")
        }
        // And the new one is there
        let new = Self.amplitude(of: Tone.new, in: speaker[frameRange(length - 1...length - 0.9)])
        #expect(new > 0.1, "\(new), seed \(seed)")
        // And both are told: the agent that it was interrupted, the listener that it speaks anew
        let told = call.events(.a).count { if case .interrupted(_, _, generation: 1) = $0 { true } else { false } }
        let begun = call.events(.b).count { if case .generationStarted(_, generation: 1) = $0 { true } else { false } }
        #expect(told == 1 && begun == 1, "seed \(seed)")
    }

    @Test("who is refused hears what is said go on")
    func refused() throws {
        let length = 4.0
        var configuration = SimulatedCall.Configuration(talkers: [
            Self.agent(oldUntil: 3.9, newFrom: 3.95, length: length), SpeechSource([], repetition: .once),
        ])
        configuration.rooms = [RoomConditions(), RoomConditions()]
        configuration.engine.backend = .bypass
        configuration.engine.codeQuickly()
        configuration.engine.processing = .bypass
        configuration.longest = .seconds(length)
        // Given a talker whom nobody else may interrupt
        configuration.publishing = .publisher
        let call = try SimulatedCall(configuration)
        call.run(for: .seconds(2))
        // When it is interrupted
        try call.interrupt(try #require(call.ownStream(.a)), by: .b)
        call.run(for: .seconds(2))
        // Then the room refuses
        let refusals = call.events(.b).count {
            if case .requestRefused(.interrupt, .noInterruptionRight) = $0 { true } else { false }
        }
        #expect(refusals == 1)
        // And the tone is back
        let speaker = call.recording(.b).speaker
        #expect(Self.amplitude(of: Tone.old, in: speaker[frameRange(2.5...2.6)]) > 0.1)
    }
}
