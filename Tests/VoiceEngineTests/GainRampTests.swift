import Testing

@testable import VoiceEngine

@Suite("A gain that moves without a click")
struct GainRampTests {
    private func apply(_ ramp: inout GainRamp, to block: [Float]) -> [Float] {
        var block = block
        var span = block.mutableSpan
        ramp.apply(to: &span)
        return block
    }

    @Test("at rest it scales by its gain", arguments: [0, 0.25, 1, 4] as [Float])
    func rest(gain: Float) {
        var ramp = GainRamp(gain)
        #expect(apply(&ramp, to: [1, -0.5, 0.25]) == [gain, -0.5 * gain, 0.25 * gain])
        #expect(ramp.isSilent == (gain == 0))
    }

    @Test(
        "it arrives in 5 ms, in equal steps, whatever the blocks",
        arguments: [(Float(1), Float(0)), (0, 1), (1, 4), (0.3, 0.7), (1, 1e-30)], [1, 100, 240, 480])
    func ramps(gains: (Float, Float), blockFrames: Int) {
        // Given a gain at rest
        var ramp = GainRamp(gains.0)
        // When it is to move
        ramp.move(to: gains.1)
        var heard: [Float] = []
        while heard.count < 480 { heard += apply(&ramp, to: [Float](repeating: 1, count: blockFrames)) }
        // Then no step is larger than its share
        let share = abs(gains.1 - gains.0) / Float(GainRamp.rampFrames)
        var last = gains.0
        for value in heard {
            #expect(abs(value - last) <= share * 1.01 + 1e-6)
            last = value
        }
        // And it is there after 240 frames, exactly, and stays
        #expect(heard[GainRamp.rampFrames...].allSatisfy { $0 == gains.1 })
        #expect(ramp.current == gains.1)
        #expect(ramp.isSilent == (gains.1 == 0))
    }

    @Test("a change of mind on the way makes no step")
    func turnsBack() {
        var ramp = GainRamp(1)
        ramp.move(to: 0)
        let down = apply(&ramp, to: [Float](repeating: 1, count: 120))
        ramp.move(to: 1)
        let up = apply(&ramp, to: [Float](repeating: 1, count: 360))
        let heard = [1] + down + up
        #expect(zip(heard, heard.dropFirst()).allSatisfy { abs($0 - $1) < 1.05 / Float(GainRamp.rampFrames) })
        #expect(heard.last == 1)
    }

    @Test("it is not silent while it fades")
    func fadingIsNotSilent() {
        var ramp = GainRamp(1)
        ramp.move(to: 0)
        _ = apply(&ramp, to: [Float](repeating: 1, count: 239))
        #expect(!ramp.isSilent)
        _ = apply(&ramp, to: [1, 1])
        #expect(ramp.isSilent)
        ramp.move(to: 1)
        #expect(!ramp.isSilent)
    }
}
