import Testing

@testable import VoiceProcessing

@Suite("When a filter is scaled, since the far end was turned up or down")
struct TurnedVolumeTests {
    /// What is told of a far end alone that was turned by `gain`, in noise of `noise` times its power, while its filter
    /// leaves `share` of that as a rule.
    private static func told(gain: Float, usual share: Float, noise: Float = 0, for blocks: Int = 100) -> Float? {
        var belief = PathBelief()
        for _ in 0..<blocks { belief.observe(unexplained: share) }
        // The microphone over its estimate: the echo by so much, what is no part of it, and the noise.
        let microphone = gain * gain * (1 + share) + noise
        let unexplained = (1 - gain) * (1 - gain) + gain * gain * share + noise
        for _ in 0..<12 {
            let turned = belief.turnedVolume(
                ratio: gain, farOnly: 1, isSettled: true,
                unexplained: (unexplained / microphone, (gain * gain * share + noise) / microphone))
            if let turned { return turned }
        }
        return nil
    }

    @Test("a far end that is turned up or down is followed", arguments: [0.3, 0.5, 0.75, 1.3, 2, 4] as [Float])
    func followed(gain: Float) {
        #expect(Self.told(gain: gain, usual: 0.002) == gain)
    }

    @Test("through a loudspeaker that leaves a tenth, too, where it is turned far", arguments: [0.25, 0.5] as [Float])
    func poor(gain: Float) {
        #expect(Self.told(gain: gain, usual: 0.1) == gain)
    }

    @Test("a device that limits its loudest words has turned nothing", arguments: [0.67, 0.77, 1.25] as [Float])
    func limiter(gain: Float) {
        #expect(Self.told(gain: gain, usual: 0.1) == nil)
    }

    @Test("nor has a room that is louder than the end of a word", arguments: [0.74, 0.79] as [Float])
    func room(gain: Float) {
        #expect(Self.told(gain: gain, usual: 0.2, noise: 2) == nil)
        #expect(Self.told(gain: gain, usual: 0.002, noise: 2) == nil)
    }

    @Test("an echo that has jumped is not a softer one")
    func jumped() {
        var belief = PathBelief()
        for _ in 0..<100 { belief.observe(unexplained: 0.002) }
        let told = (0..<12).map { _ in
            belief.turnedVolume(ratio: 0.2, farOnly: 1, isSettled: true, unexplained: (1.6, 0.78))
        }
        #expect(told.allSatisfy { $0 == nil })
    }

    @Test("nothing is usual at first, and a change is followed", arguments: [0.5, 1.5] as [Float])
    func first(gain: Float) {
        #expect(Self.told(gain: gain, usual: 0.002, for: 20) == gain)
    }
}
