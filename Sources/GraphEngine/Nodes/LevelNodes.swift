internal import Glibc
internal import VoiceSignal

/// A gain that goes to what it is set to in a straight line within a block.
final class GainNode: GraphNode {
    private enum Action: Int { case setGain, mute, unmute }

    private var wanted: Float
    private var present: Float
    private var isMuted = false

    init(_ setup: NodeSetup) {
        wanted = Self.factor(Float(setup.settings.number("gainDb")))
        present = wanted
    }

    private static func factor(_ decibels: Float) -> Float { exp2f(decibels * 0.166_096_4) }

    func process(_ input: borrowing GraphInput, into output: inout GraphOutput) {
        let sound = input.sound()
        var louder = output.sound()
        let goal: Float = isMuted ? 0 : wanted
        let start = present
        let step = (goal - start) / Float(input.frames)
        for index in 0..<input.frames { louder[index] = sound[index] * (start + step * Float(index + 1)) }
        present = goal
    }

    func perform(_ action: Int, _ call: GraphCall) {
        switch Action(rawValue: action) {
        case .setGain: if call.value.isFinite { wanted = Self.factor(max(-60, min(24, call.value))) }
        case .mute: isMuted = true
        case .unmute: isMuted = false
        case nil: break
        }
    }
}

/// Tells the RMS of each interval.
final class LevelMeterNode: GraphNode {
    private let interval: Int
    private var energy: Float = 0
    private var filled = 0
    private var started: Int64 = 0

    init(_ setup: NodeSetup) {
        interval = setup.settings.integer("intervalMs") * setup.settings.sampleRate / 1_000
    }

    func process(_ input: borrowing GraphInput, into output: inout GraphOutput) {
        let sound = input.sound()
        var used = 0
        while used < input.frames {
            let count = min(interval - filled, input.frames - used)
            energy += VoiceSignal.energy(of: sound.extracting(used..<used + count))
            used += count
            filled += count
            guard filled == interval else { break }
            let end = input.position + Int64(used)
            let level = max(-127, 10 * log10f(energy / Float(interval) + 1e-13))
            output.tell(0, start: started, end: end, value: level)
            (energy, filled, started) = (0, 0, end)
        }
    }
}
