import Testing
import VoiceSignal

@testable import VoiceProcessing

/// How low the other opinions may take the gain below the second network's.
@Suite("Double-talk share")
struct DoubleTalkShareTests {
    private static let share = DoubleTalkShare()
    /// A near end over a far end, with a path that is known.
    private static let both = DoubleTalkShare.Block(near: 0.6, ownNear: 0.6, farOnly: 0, doubt: 1, unexplained: 0.7)
    /// What a bin shows: the network's gain, the share of the echo estimate's power that stays in the error, and the
    /// power over the noise's.
    private struct Bin {
        var gain: Float
        var leakage: Float
        var overNoise: Float
    }

    /// A bin of a talker where the linear stage leaves a tenth of the echo's amplitude.
    private static let talker = Bin(gain: 1, leakage: 0.01, overNoise: 1000)

    private static func floor(_ block: DoubleTalkShare.Block = both, _ bin: Bin = talker) -> Float {
        var floor = RealVector(count: 1)
        share.writeFloor(
            share.floor(of: block), gains: RealVector(count: 1, repeating: bin.gain),
            leakage: RealVector(count: 1, repeating: bin.leakage),
            power: RealVector(count: 1, repeating: bin.overNoise), noise: RealVector(count: 1, repeating: 1),
            into: &floor)
        return floor[0]
    }

    @Test("a talker whom either network hears is kept where the linear stage leaves much of the echo")
    func keepsTalker() {
        // Given
        var (first, own) = (Self.both, Self.both)
        first.ownNear = 0
        own.near = 0
        // Then
        #expect(Self.floor() == 1)
        #expect(Self.floor(first) == 1)
        #expect(Self.floor(own) == 1)
    }

    @Test("nothing holds the gain up while the far end is alone, or after the path has changed or jumped")
    func letsGo() {
        // Given
        let changes: [(String, (inout DoubleTalkShare.Block) -> Void)] = [
            ("nobody near", { ($0.near, $0.ownNear) = (0.05, 0.1) }), ("a new path", { $0.doubt = 5 }),
            ("an estimate that adds to the microphone", { $0.unexplained = 1.2 }),
        ]
        for (name, change) in changes {
            // When
            var block = Self.both
            change(&block)
            // Then
            #expect(Self.floor(block) == 0, "\(name)")
        }
        var alone = Self.both
        alone.farOnly = 1
        #expect(abs(Self.floor(alone) - 0.5) < 1e-4)
    }

    @Test("a bin of the room alone, of little gain or of a good linear stage is left to the others")
    func leavesBins() {
        // Given
        let changes: [(String, (inout Bin) -> Void)] = [
            ("noise", { $0.overNoise = 4 }), ("an echo, as the network hears it", { $0.gain = 0 }),
            ("a linear stage that removes 35 dB", { $0.leakage = 3e-4 }),
        ]
        for (name, change) in changes {
            // When
            var bin = Self.talker
            change(&bin)
            // Then
            #expect(Self.floor(Self.both, bin) == 0, "\(name)")
        }
    }

    @Test("it grows with what is heard of a near end, with what the linear stage leaves and with the network's gain")
    func grows() {
        // Given
        let steps = (0...50).map { Float($0) / 50 }
        // When
        let ofNear = steps.map { near in
            var block = Self.both
            (block.near, block.ownNear) = (near, 0)
            return Self.floor(block)
        }
        let ofLeakage = steps.map { amplitude in
            var bin = Self.talker
            bin.leakage = amplitude * amplitude
            return Self.floor(Self.both, bin)
        }
        let ofGain = steps.map { gain in
            var bin = Self.talker
            bin.gain = gain
            return Self.floor(Self.both, bin)
        }
        // Then
        for floors in [ofNear, ofLeakage, ofGain] {
            #expect(zip(floors, floors.dropFirst()).allSatisfy { $0 <= $1 }, "\(floors)")
            #expect(floors.first == 0 && floors.last == 1, "\(floors)")
            #expect(zip(ofGain, steps).allSatisfy { $0 <= $1 }, "never above the network's own gain")
        }
    }
}
