import Glibc
import VoiceSignal

/// The spectra that the searches for the delay work on: pre-emphasised, so that the loud low vowels do not drown the
/// rest, and windowed.
struct SearchInputs: ~Copyable {
    private static let block = 160
    private static let frames = BlockTransform.frames
    private static let emphasis: Float = 0.95
    /// Frames over which the long window rises and falls.
    private static let edge = 40
    /// Weight of a new block in the levels, 0.4 s.
    private static let levelWeight: Float = 0.025

    private var farLine = DelayLine(count: frames)
    private var playedLine = DelayLine(count: frames)
    private var micLine = DelayLine(count: frames)
    private var predictionLine = DelayLine(count: frames)
    private var predicted = RealVector(count: block)
    private var fresh = RealVector(count: block)
    private var longWindow = RealVector(count: frames, repeating: 1)
    private var shortWindow = RealVector(count: frames)
    private var last: (far: Float, mic: Float, prediction: Float) = (0, 0, 0)
    private var levels: (far: Float, mic: Float) = (0, 0)

    /// The last 20 ms of what was played, whole: for a path's filter.
    private(set) var played = Spectrum()
    /// The same for a search.
    private(set) var far = Spectrum()
    /// The newest block of the microphone.
    private(set) var microphone = Spectrum()
    /// 20 ms of what the remembered path would make of it.
    private(set) var prediction = Spectrum()
    private(set) var farPower: Float = 0
    private(set) var predictionPower: Float = 0

    init() {
        for index in 0..<Self.edge {
            let rise = sinf(.pi / 2 * (Float(index) + 0.5) / Float(Self.edge))
            longWindow[index] = rise
            longWindow[Self.frames - 1 - index] = rise
        }
        for index in 0..<Self.block {
            let z = (Float(index) + 0.5) / Float(Self.block)
            shortWindow[Self.block + index] = sinf(.pi * z)
        }
    }

    /// Power of the microphone over that of what was played, of late.
    var levelRatio: Float { levels.mic / (levels.far + 1e-9) }

    mutating func prepare(
        far newFar: borrowing RealVector, mic: borrowing RealVector, _ transform: inout BlockTransform
    ) {
        playedLine.push(newFar)
        fresh.takeEmphasised(newFar, by: Self.emphasis, after: &last.far)
        farLine.push(fresh)
        fresh.takeEmphasised(mic, by: Self.emphasis, after: &last.mic)
        micLine.push(fresh)
        farPower = playedLine.energy / Float(Self.frames)
        if farPower > 1e-7 {
            levels.far += Self.levelWeight * (farPower - levels.far)
            levels.mic += Self.levelWeight * (mic.energy / Float(Self.block) - levels.mic)
        }
        transform.forward(playedLine, into: &played)
        transform.forward(farLine, window: longWindow, into: &far)
        transform.forward(micLine, window: shortWindow, into: &microphone)
    }

    /// Takes the spectrum whose inverse transform holds the prediction in its second half.
    mutating func prepare(prediction spectrum: borrowing Spectrum, _ transform: inout BlockTransform) {
        transform.inverse(spectrum, from: Self.block, into: &predicted)
        fresh.takeEmphasised(predicted, by: Self.emphasis, after: &last.prediction)
        predictionLine.push(fresh)
        predictionPower = predictionLine.energy / Float(Self.frames)
        transform.forward(predictionLine, window: longWindow, into: &prediction)
    }
}
