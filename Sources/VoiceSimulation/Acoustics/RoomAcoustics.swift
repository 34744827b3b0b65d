import Glibc
internal import VoiceSignal

/// What lies between a loudspeaker and a microphone:
/// `speaker -> buffers -> compressor -> loudspeaker -> room -> + near + noise -> clipping`.
///
/// A stream at 48 kHz in blocks of any length; the output lacks nothing of the newest input. Deterministic: one seed
/// and the same input give the same bits, however the input is cut into blocks. Creating one computes the room and
/// allocates; `process` does neither, nor blocks, and costs a small part of real time. In one thread's hands at a time.
package struct RoomAcoustics: ~Copyable, Sendable {
    /// Frames per second.
    package static let sampleRate = 48_000.0
    /// Frames that go through the stages at once.
    private static let chunkFrames = 480

    /// The conditions it was made for; `bulkDelayFrames` and `echoReturnLossDecibels` may have changed since.
    package let conditions: RoomConditions
    /// From the loudspeaker's driver to the microphone, the initial echo return loss included; empty without echo path.
    /// Where the path moves: as it begins.
    package let impulseResponse: [Float]
    /// Microphone frames that were cut off at full scale so far.
    package private(set) var clippedFrames = 0

    private var delay: SlippingDelay
    private var compressor: CompressorProcess?
    private var loudspeaker: LoudspeakerProcess
    private var path: EchoPath
    private var noise: AmbientNoiseProcess?
    let nearGain: Float
    private var echoGain: Float = 1
    private var played: RealVector
    private var echo: RealVector

    /// Makes the room; throws when the conditions cannot be simulated.
    package init(_ conditions: RoomConditions, seed: UInt64) throws(SimulationSettingError) {
        try conditions.validate()
        let responses = try Self.makeResponses(conditions, seed: seed)
        self.conditions = conditions
        compressor = conditions.playbackCompressor.map { CompressorProcess($0) }
        loudspeaker = LoudspeakerProcess(conditions.loudspeaker, seed: seed)
        impulseResponse = responses[0]
        path = EchoPath(
            responses: responses, step: conditions.movement?.step ?? .zero, longestBlock: Self.chunkFrames)
        delay = SlippingDelay(
            bulkFrames: conditions.bulkDelayFrames, longestFrames: RoomConditions.longestBulkDelayFrames,
            inputFasterByPPM: conditions.loudspeakerClockPPM, swing: conditions.delaySwing)
        noise =
            if let noise = conditions.noise {
                AmbientNoiseProcess(noise, generator: SeededGenerator(seed: seed, stream: "ambient noise"))
            } else { nil }
        played = RealVector(count: Self.chunkFrames)
        echo = RealVector(count: Self.chunkFrames)
        nearGain = Float(pow(10, conditions.nearGainDecibels / 20))
        bulkDelayFrames = conditions.bulkDelayFrames
        echoReturnLossDecibels = conditions.echoReturnLossDecibels
    }

    /// The delay of the buffers in frames; a change takes effect with the next frame, as when a device's buffer jumps.
    /// Values beyond 0 ... `RoomConditions.longestBulkDelayFrames` are moved to the nearest bound.
    package var bulkDelayFrames: Int {
        didSet {
            bulkDelayFrames = min(max(bulkDelayFrames, 0), RoomConditions.longestBulkDelayFrames)
            delay.bulkFrames = bulkDelayFrames
        }
    }

    /// The echo return loss in dB; a change takes effect with the next frame, as when somebody turns the volume.
    package var echoReturnLossDecibels: Double {
        didSet { echoGain = Float(pow(10, (conditions.echoReturnLossDecibels - echoReturnLossDecibels) / 20)) }
    }

    /// From the loudspeaker's input to the direct sound at the microphone, in frames: buffers, slip of the clocks and
    /// flight; nil without echo path.
    package var echoDelayFrames: Double? {
        guard let room = conditions.echoPath else { return nil }
        return delay.currentFrames + room.distance / RoomImpulseResponse.speedOfSound * Self.sampleRate
    }

    /// Carries the next frames through the room: what the loudspeaker is given, what the near talker says, and what the
    /// microphone hears. All three have the same length, which may change from call to call. Full scale is 1.
    package mutating func process(speaker: Span<Float>, near: Span<Float>, into microphone: inout MutableSpan<Float>) {
        precondition(speaker.count == near.count && near.count == microphone.count, "one length for all")
        var start = 0
        while start < speaker.count {
            let count = min(Self.chunkFrames, speaker.count - start)
            renderEcho(of: speaker, from: start, count: count)
            for index in 0..<count {
                microphone[start + index] = hear(echo[index], near[start + index])
            }
            start += count
        }
    }

    /// The same, and the echo alone, as it is part of `microphone` before clipping.
    package mutating func process(
        speaker: Span<Float>, near: Span<Float>, into microphone: inout MutableSpan<Float>,
        echo echoAlone: inout MutableSpan<Float>
    ) {
        precondition(speaker.count == near.count && near.count == microphone.count, "one length for all")
        precondition(echoAlone.count == speaker.count, "one length for all")
        var start = 0
        while start < speaker.count {
            let count = min(Self.chunkFrames, speaker.count - start)
            renderEcho(of: speaker, from: start, count: count)
            for index in 0..<count {
                echoAlone[start + index] = echo[index]
                microphone[start + index] = hear(echo[index], near[start + index])
            }
            start += count
        }
    }

    private mutating func renderEcho(of speaker: Span<Float>, from start: Int, count: Int) {
        guard conditions.echoPath != nil else { return }
        for index in 0..<count {
            let due = delay.process(speaker[start + index])
            played[index] = loudspeaker.process(compressor?.process(due) ?? due)
        }
        unsafe path.process(played.start, into: echo.start, frames: count)
        for index in 0..<count {
            echo[index] *= echoGain
        }
    }

    private mutating func hear(_ echo: Float, _ near: Float) -> Float {
        let sum = echo + near * nearGain + (noise?.next() ?? 0)
        clippedFrames += abs(sum) > 1 ? 1 : 0
        return min(max(sum, -1), 1)
    }

    /// The responses scaled so that speech comes out weaker by the echo return loss, at the first place; one without
    /// movement.
    private static func makeResponses(
        _ conditions: RoomConditions, seed: UInt64
    ) throws(SimulationSettingError) -> [[Float]] {
        guard let room = conditions.echoPath else { return [[]] }
        let length = conditions.responseLength
        let responses =
            if let movement = conditions.movement {
                try movement.responses(in: room, length: length)
            } else { [try RoomImpulseResponse(of: room, length: length).taps] }
        let loudspeaker = LoudspeakerProcess(conditions.loudspeaker, seed: seed)
        let powerGain = SpeechSpectrum.powerGain(of: responses[0], sampleRate: sampleRate) {
            loudspeaker.power(atHertz: $0)
        }
        try require(powerGain > 0, "responseLength", "must be longer than the sound's flight to the microphone")
        let scale = Float(pow(10, -conditions.echoReturnLossDecibels / 20) / powerGain.squareRoot())
        return responses.map { $0.map { $0 * scale } }
    }
}
