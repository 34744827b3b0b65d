import Glibc
import VoiceSimulation

/// A steady tone, and what becomes of it on the way: its phase tells of every frame that is left out, made up or
/// shifted.
struct Tone {
    /// A tone in whose period there are whole frames.
    static let hertz = 1_000.0
    /// 20 ms: long enough for the codec's noise to average out to a degree of phase.
    private static let windowFrames = 960

    /// The tone, without end.
    static let source = SpeechSource(
        (0..<48).map { Float(0.25 * sin(2 * Double.pi * Double($0) / 48)) }, repetition: .loop)

    /// The phase of each 20 ms against that of a true tone, in degrees.
    private let phases: [Double]

    init(in frames: [Float]) {
        phases = stride(from: 0, to: frames.count - Self.windowFrames + 1, by: Self.windowFrames).map { start in
            var (real, imaginary) = (0.0, 0.0)
            for index in start..<start + Self.windowFrames {
                let angle = 2 * Double.pi * Self.hertz * Double(index) / 48_000
                real += Double(frames[index]) * cos(angle)
                imaginary -= Double(frames[index]) * sin(angle)
            }
            return atan2(imaginary, real) * 180 / .pi
        }
    }

    /// The largest change of phase from one 20 ms to the next beyond the steady one that a difference of clocks makes,
    /// in degrees: 7.5 are one frame.
    var largestStep: Double {
        let steps = zip(phases, phases.dropFirst()).map { Self.wrapped($1 - $0) }
        guard !steps.isEmpty else { return .infinity }
        let steady = steps.sorted()[steps.count / 2]
        return steps.map { abs(Self.wrapped($0 - steady)) }.max() ?? .infinity
    }

    private static func wrapped(_ degrees: Double) -> Double { degrees - (degrees / 360).rounded() * 360 }
}
