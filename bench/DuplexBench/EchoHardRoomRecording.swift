import VoiceSimulation

extension HardRoom {
    /// The recording that a seed makes of it.
    func recording(seed: UInt64) throws -> EchoRecording {
        let (far, talk) = (farSound(seed: seed), nearSound(seed: seed))
        var room = try RoomAcoustics(conditions, seed: seed)
        var path = try CapturePath(automaticGain: automaticGain)
        let made = RoomRecording(
            in: &room, through: &path, played: farEnd == .codedSpeech ? try CodecPassage.decoded(far) : far,
            near: withCrowd(talk, seed: seed), talk: talk
        ) { start, room, path in
            jumpDelay(of: &room, at: start)
            path.isCovered = covered.contains { $0.contains(start) }
        }
        return EchoRecording(far: far, near: made.talk, microphone: made.microphone, echo: made.echo)
    }

    private func farSound(seed: UInt64) -> [Float] {
        switch farEnd {
        case .speech, .codedSpeech:
            SyntheticSpeech.samples(frames: Self.frames, seed: seed &+ 1_000, voice: .low, levelDecibels: -23)
        case .music: SyntheticMusic.samples(frames: Self.frames, seed: seed &+ 1_000, levelDecibels: -25)
        }
    }

    private func nearSound(seed: UInt64) -> [Float] {
        var sound = [Float](repeating: 0, count: Self.frames)
        let talk = SyntheticSpeech.samples(
            frames: Self.frames - Self.nearStart, seed: seed, voice: .high, levelDecibels: nearDecibels)
        for index in talk.indices { sound[Self.nearStart + index] = talk[index] }
        guard let competitorDecibels else { return sound }
        let competitor = SyntheticSpeech.samples(
            frames: Self.frames, seed: seed &+ 2_000, voice: .low, levelDecibels: competitorDecibels)
        return zip(sound, competitor).map { $0 + $1 }
    }

    private func withCrowd(_ near: [Float], seed: UInt64) -> [Float] {
        guard let crowdDecibels else { return near }
        // Six voices, each weaker by the square root of six.
        return (0..<6).reduce(near) { sum, number in
            let voice = SyntheticSpeech.samples(
                frames: Self.frames, seed: (seed &+ 3_000) &* 100 &+ UInt64(number),
                voice: number % 2 == 0 ? .low : .high, levelDecibels: crowdDecibels - 7.8)
            return zip(sum, voice).map { $0 + $1 }
        }
    }

    private func jumpDelay(of room: inout RoomAcoustics, at frame: Int) {
        let interval = 2 * 48_000
        guard !delayJumps.isEmpty, frame > 0, frame % interval == 0 else { return }
        room.bulkDelayFrames += delayJumps[(frame / interval - 1) % delayJumps.count]
    }
}
