import Glibc
import VoiceSimulation

/// What became of a near talker who is known: compared with the talker alone, frame by frame.
struct NearEvidence {
    /// Signal-to-distortion ratio of the talker in the microphone and in the output, dB.
    let distortionBefore: Double?
    let distortionAfter: Double?
    /// Share, 0...1, of the 20 ms frames with speech whose level fell by more than 10 dB.
    let lostShare: Double?
    /// Change of level over the frames with speech, dB.
    let levelChange: Double?

    /// A frame has speech within this of the loudest, dB.
    private static let range = 30.0
    /// A frame is lost when it is this much quieter than the output's own level change, dB.
    private static let loss = 10.0

    /// - Parameter lag: frames by which the output lags the microphone.
    init(near: [Float], microphone: [Float], output: [Float], rate: Int, lag: Int) {
        let taps = 64
        distortionBefore = ScaleInvariantDistortion.ratioDecibels(
            estimate: microphone.span, reference: near.span, taps: taps)
        distortionAfter = ScaleInvariantDistortion.ratioDecibels(
            estimate: output.span, reference: near.span, delayFrames: lag, taps: taps)
        let frame = rate / 50
        let frames = min(near.count, output.count - lag) / frame
        func power(_ signal: [Float], _ start: Int) -> Double {
            signal[start..<start + frame].reduce(1e-12) { $0 + Double($1) * Double($1) }
        }
        let before = (0..<max(frames, 0)).map { power(near, $0 * frame) }
        let after = (0..<max(frames, 0)).map { power(output, $0 * frame + lag) }
        let threshold = (before.max() ?? 0) * pow(10, -Self.range / 10)
        let speech = before.indices.filter { before[$0] > threshold && before[$0] > 1e-9 }
        guard !speech.isEmpty else {
            (lostShare, levelChange) = (nil, nil)
            return
        }
        let change = speech.reduce(0) { $0 + after[$1] } / speech.reduce(0) { $0 + before[$1] }
        levelChange = 10 * log10(change)
        let least = min(change, 1) * pow(10, -Self.loss / 10)
        lostShare = Double(speech.count { after[$0] < before[$0] * least }) / Double(speech.count)
    }
}
