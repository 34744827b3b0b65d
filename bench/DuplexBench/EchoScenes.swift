import VoiceSimulation

/// One recording to cancel the echo in, and what is known of it; 48 kHz.
struct EchoScene {
    /// What is the matter in a scene.
    enum Kind: String, CaseIterable {
        /// The far end alone, in an office.
        case farEnd
        /// Both talk from 4 s on, in a living room.
        case doubleTalk
        /// The delay grows by 80 ms in the middle.
        case jump
        /// The microphone is moved in the middle.
        case move
        /// The loudspeaker's clock is 150 ppm fast.
        case drift
        /// Both talk, and nothing of the far end gets to the microphone.
        case headset
    }

    static let seconds = 12.0
    static let frames = Int(seconds * 48_000)
    /// When the near talker of ``Kind/doubleTalk`` begins, and what of every scene with one is judged from there on, in
    /// frames.
    static let nearStart = 4 * 48_000
    /// When the path changes, in frames.
    static let change = 6 * 48_000
    private static let jumpFrames = 3_840
    private static let driftPPM = 150.0
    /// A quiet room, so that what is left of an echo can be seen.
    private static let noise = AmbientNoise(.pink, levelDecibels: -75)

    let kind: Kind
    private(set) var recording = EchoRecording(frames: frames)

    init(_ kind: Kind, seed: UInt64) throws {
        self.kind = kind
        recording.far = SyntheticSpeech.samples(
            frames: Self.frames, seed: seed &+ 1_000, voice: .low, levelDecibels: -23)
        if kind == .doubleTalk || kind == .headset {
            let spoken = SyntheticSpeech.samples(frames: Self.frames, seed: seed, voice: .high, levelDecibels: -29)
            for index in Self.nearStart..<Self.frames { recording.near[index] = spoken[index - Self.nearStart] }
        }
        try render(seed)
    }

    private static func room(_ kind: Kind) -> RoomConditions {
        var room: RoomConditions =
            switch kind {
            case .doubleTalk: .livingRoom
            case .headset: .headset
            default: .office
            }
        room.noise = noise
        if kind == .drift { room.loudspeakerClockPPM = driftPPM }
        return room
    }

    private mutating func render(_ seed: UInt64) throws {
        let conditions = Self.room(kind)
        var room = try RoomAcoustics(conditions, seed: seed)
        var moved = conditions
        moved.echoPath?.microphone = [1.6, 1.75, 1.1]
        var other = try RoomAcoustics(moved, seed: seed)
        let block = 480
        var (heard, alone) = ([Float](repeating: 0, count: block), [Float](repeating: 0, count: block))
        for start in stride(from: 0, to: Self.frames, by: block) {
            let range = start..<start + block
            if kind == .jump, start == Self.change { room.bulkDelayFrames += Self.jumpFrames }
            let isMoved = kind == .move && start >= Self.change
            var into = heard.mutableSpan
            var echoInto = alone.mutableSpan
            // Both rooms hear everything, so that each has its reverberation when it counts.
            for isOther in [!isMoved, isMoved] {
                if isOther {
                    other.process(
                        speaker: recording.far.span.extracting(range), near: recording.near.span.extracting(range),
                        into: &into, echo: &echoInto)
                } else {
                    room.process(
                        speaker: recording.far.span.extracting(range), near: recording.near.span.extracting(range),
                        into: &into, echo: &echoInto)
                }
            }
            recording.microphone.replaceSubrange(range, with: heard)
            recording.echo.replaceSubrange(range, with: alone)
        }
    }
}
