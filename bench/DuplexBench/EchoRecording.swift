/// A recording to cancel the echo in, and what is known of it; 48 kHz, all of one length.
struct EchoRecording {
    /// What the loudspeaker was given.
    var far: [Float]
    /// The near talkers, as part of the microphone.
    var near: [Float]
    var microphone: [Float]
    /// The echo, as part of the microphone.
    var echo: [Float]
}

extension EchoRecording {
    /// Silence.
    init(frames: Int) {
        let silence = [Float](repeating: 0, count: frames)
        self.init(far: silence, near: silence, microphone: silence, echo: silence)
    }
}
