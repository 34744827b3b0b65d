/// What lies between a loudspeaker and a microphone: a room, a cable, nothing.
package protocol AcousticAir: ~Copyable, Sendable {
    /// Turns what the loudspeaker sounds during a period into what the microphone hears during the same period: as many
    /// frames, 48 kHz mono. Called once for each period in order, by the device's thread; may keep state, such as a
    /// reverberation.
    mutating func process(speaker: Span<Float>, into microphone: inout MutableSpan<Float>)

    /// So many frames pass, a whole number of periods of `period` frames, in which the loudspeaker sounds nothing and
    /// nobody listens to the microphone: the device stood still. What ``process(speaker:into:)`` does with silence,
    /// unless the air has a shorter way.
    mutating func pass(frames: Int, period: Int)
}

extension AcousticAir where Self: ~Copyable {
    /// Period for period.
    package mutating func pass(frames: Int, period: Int) {
        let silence = [Float](repeating: 0, count: period)
        var unheard = silence
        for _ in 0..<frames / period {
            var microphone = unheard.mutableSpan
            process(speaker: silence.span, into: &microphone)
        }
    }
}

/// Air in which the microphone hears nothing.
package struct SilentAir: AcousticAir {
    /// Silence.
    package init() {}

    /// Silence, whatever is played.
    package mutating func process(speaker: Span<Float>, into microphone: inout MutableSpan<Float>) {
        microphone.update(repeating: 0)
    }
}

/// Air that carries the loudspeaker to the microphone unchanged and at once: a cable.
package struct CableAir: AcousticAir {
    /// The factor on each sample.
    package var gain: Float

    /// A cable with a gain.
    package init(gain: Float = 1) { self.gain = gain }

    /// What is played, times the gain.
    package mutating func process(speaker: Span<Float>, into microphone: inout MutableSpan<Float>) {
        for index in speaker.indices { microphone[index] = speaker[index] * gain }
    }
}
