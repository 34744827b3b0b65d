import Glibc
import SimulatedCalls
import TestCases
import Testing
import VoiceEngine
import VoiceSimulation

@Suite("Presets")
struct PresetTests {
    @Test(
        "whoever speaks is heard without a gap, at the preset's bit rate",
        arguments: cases(EngineConfiguration.Preset.allCases))
    func heard(preset: EngineConfiguration.Preset) throws {
        // Given two people without echo and noise, and A speaks
        var configuration = Talk(a: [0.5...6], length: 6.3, seed: 2).overCables
        configuration.engine = preset.configuration
        let call = try SimulatedCall(configuration)
        call.run(for: .seconds(6.3))
        // Then B hears what A says
        let hearing = try #require(Hearing(call, from: .a, while: 4...5.8))
        #expect(hearing.delayMilliseconds < (preset == .narrowBand ? 140 : 90))
        #expect(Scenario.concealedRatio(try Scenario.stream(call, at: .b).playout) < 0.01)
        // And A sends as much as the preset says, packet by packet
        let sent = call.statistics(.a).uplink
        let wanted = preset.configuration.encoder
        #expect(sent.encoder?.bitratePerSecond == wanted.bitratePerSecond)
        let packets = 6.3 * 48_000 / Double(wanted.frameDuration.frames)
        #expect(abs(Double(sent.packetsSent) - packets) < 0.1 * packets)
        let headers = 40 * sent.packetsSent
        #expect(Double(8 * (sent.bytesSent - headers)) / 6.3 < 1.1 * Double(wanted.bitratePerSecond))
    }

    @Test(
        "Given a call, when a side goes over to each preset, then it sends as that says, and is heard without a gap",
        .enabled(if: isOptimised))
    func live() throws {
        var configuration = Talk(a: [0.5...26], length: 26, seed: 2).overCables
        configuration.engine = .voiceChat
        let call = try SimulatedCall(configuration)
        call.run(for: .seconds(2))
        for preset in EngineConfiguration.Preset.allCases {
            let before = call.statistics(.a).uplink
            try call.apply(preset, .a)
            call.run(for: .seconds(2.5))
            let (after, wanted) = (call.statistics(.a).uplink, preset.configuration.encoder)
            #expect(after.encoder?.bitratePerSecond == wanted.bitratePerSecond, "\(preset)")
            #expect(after.encoder?.frameDuration == wanted.frameDuration, "\(preset)")
            let packets = 2.5 * 48_000 / Double(wanted.frameDuration.frames)
            #expect(abs(Double(after.packetsSent - before.packetsSent) - packets) < 0.1 * packets, "\(preset)")
        }
        #expect(Scenario.concealedRatio(try Scenario.stream(call, at: .b).playout) < 0.02)
    }

    @Test(
        "in a music lesson a held note keeps its level, however high and soft, for as long as it is held",
        .enabled(if: isOptimised))
    func heldNotes() throws {
        // Given a musician who holds two notes, one of them 60 dB below full scale and at 12 kHz
        let notes: [(hertz: Double, amplitude: Double)] = [(1_000, 0.25), (12_000, 0.001)]
        let period = (0..<48).map { frame in
            Float(notes.reduce(0) { $0 + $1.amplitude * sin(2 * .pi * $1.hertz * Double(frame) / 48_000) })
        }
        var configuration = Talk(a: [], length: 8, seed: 2).overCables
        configuration.talkers[0] = SpeechSource(period, repetition: .loop)
        configuration.engine = .musicLesson
        let call = try SimulatedCall(configuration)
        call.run(for: .seconds(8))
        // When the pupil has listened for seven seconds
        let heard = call.recording(.b).speaker[7 * 48_000..<7 * 48_000 + 24_000]
        for (hertz, amplitude) in notes {
            // Then both are as loud as they were played
            let (real, imaginary) = heard.enumerated().reduce((0.0, 0.0)) { sum, sample in
                let angle = 2 * .pi * hertz * Double(sample.offset) / 48_000
                return (sum.0 + Double(sample.element) * cos(angle), sum.1 + Double(sample.element) * sin(angle))
            }
            let level = 2 * hypot(real, imaginary) / Double(heard.count)
            #expect(abs(20 * log10(level / amplitude)) < 1, "\(hertz) Hz: \(level) for \(amplitude)")
        }
    }
}
