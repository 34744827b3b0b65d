import VoiceSignal

/// A loudspeaker's cubic distortion of what it plays, the second reference of the echo path's filter.
///
/// A small loudspeaker plays no bass, so the cube is taken of the signal above 200 Hz (measured in simulated rooms: 120
/// and 350 Hz were 1 to 2 dB worse). The filter finds the distortion's share; here it only gets a level near the
/// signal's.
struct LoudspeakerDistortion {
    private static let highPass = 200.0
    /// Amplitude at which the cube is as loud as the signal.
    private static let reference: Float = 0.5

    private var filter: Biquad

    init(sampleRate: Int) { filter = Biquad.highPass(hertz: Self.highPass, sampleRate: Double(sampleRate)) }

    mutating func run(_ input: Span<Float>, into output: inout RealVector) {
        precondition(output.count == input.count)
        filter.run(input, into: &output)
        for index in input.indices {
            let u = output[index] / Self.reference
            output[index] = u * u * u * Self.reference
        }
    }
}
