internal import VoiceSignal

/// The way from the loudspeaker's driver to the microphone: one response, or four that are faded into each other in
/// turn.
///
/// A fade between two places that lie 3 cm apart is no movement: half-way the direct sound comes twice, which is a comb,
/// and the response changes along a straight line, which an adaptive filter follows more easily than a delay that
/// changes. A microphone that is really moved is harder to cancel.
struct EchoPath: ~Copyable, Sendable {
    private var places: InlineArray<4, PartitionedConvolver>
    /// Of the four; the others are not used.
    private let used: Int
    private let framesPerStep: Double
    private let heard: RealVector
    private var frame = 0

    /// A path through `responses`, each of which takes `step`; there are one or four of them.
    init(responses: [[Float]], step: Duration, longestBlock: Int) {
        precondition(responses.count == 1 || responses.count == PathMovement.places, "one place or all")
        used = responses.count
        places = InlineArray { place in
            PartitionedConvolver(impulseResponse: (place < responses.count ? responses[place] : []).span)
        }
        framesPerStep = step / .seconds(1) * RoomAcoustics.sampleRate
        heard = RealVector(count: longestBlock)
    }

    /// Convolves the next frames, at most the longest block.
    @unsafe mutating func process(
        _ input: UnsafePointer<Float>, into output: UnsafeMutablePointer<Float>, frames: Int
    ) {
        unsafe places[0].process(input, into: output, frames: frames)
        guard used > 1 else { return }
        for index in 0..<frames { unsafe output[index] *= weight(of: 0, at: frame + index) }
        // All of them hear everything, so that each has its reverberation when it counts.
        for place in 1..<used {
            unsafe places[place].process(input, into: heard.start, frames: frames)
            for index in 0..<frames {
                unsafe output[index] += heard.start[index] * weight(of: place, at: frame + index)
            }
        }
        frame += frames
    }

    /// To and fro: 0, 1, 2, 3, 2, 1, 0, ...; between two places both are heard.
    private func weight(of place: Int, at frame: Int) -> Float {
        let last = Double(used - 1)
        let walked = (Double(frame) / framesPerStep).truncatingRemainder(dividingBy: 2 * last)
        let position = walked > last ? 2 * last - walked : walked
        return Float(max(0, 1 - abs(position - Double(place))))
    }
}
