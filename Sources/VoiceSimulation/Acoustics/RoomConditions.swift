/// What lies between a loudspeaker and a microphone. A value: change a preset where it does not fit.
package struct RoomConditions: Equatable, Sendable {
    /// The room that carries the loudspeaker's sound to the microphone; nil: no sound gets there, as with a headset.
    package var echoPath: ShoeboxRoom?
    /// How much of the room's response is computed; the rest is cut off. 1 ms to 2 s.
    package var responseLength: Duration = .milliseconds(250)
    /// How that room's response changes all the time, at the cost of four rooms; nil: nothing moves.
    package var movement: PathMovement?
    /// How much weaker speech is in the microphone than it is given to the loudspeaker, in dB (echo return loss).
    /// Negative: stronger. Weighted with the long-term spectrum of speech of ITU-T P.50, for a loudspeaker within its
    /// linear range and no compressor.
    package var echoReturnLossDecibels = 10.0
    /// Frames between the loudspeaker's input and its sound, on top of the flight through the room: buffers of the
    /// devices at both ends. 0 to 96,000 (2 s).
    package var bulkDelayFrames = 0
    /// How much faster the loudspeaker's clock is than the microphone's, in parts per million: its sound comes ever
    /// earlier, by 4.8 frames per 100 ppm and second, until no delay is left. -1,000...1,000.
    package var loudspeakerClockPPM = 0.0
    /// How the delay of the buffers swings; nil: it rests.
    package var delaySwing: DelaySwing?
    /// What makes the playback louder or spares the loudspeaker; nil: nothing.
    package var playbackCompressor: Compressor?
    /// The loudspeaker.
    package var loudspeaker: Loudspeaker = .linear
    /// What the microphone hears when nobody talks; nil: nothing.
    package var noise: AmbientNoise?
    /// Gain on the near talker, in dB.
    package var nearGainDecibels = 0.0

    /// Conditions as the properties' defaults: no echo path, no noise.
    package init() {}

    func validate() throws(SimulationSettingError) {
        try echoPath?.validate("echoPath")
        try movement?.validate("movement", in: echoPath)
        try require(
            responseLength >= .milliseconds(1) && responseLength <= .seconds(2), "responseLength",
            "must be between 1 ms and 2 s")
        try require(
            (-40...120).contains(echoReturnLossDecibels), "echoReturnLossDecibels", "must be between -40 and 120 dB")
        try require(
            (0...Self.longestBulkDelayFrames).contains(bulkDelayFrames), "bulkDelayFrames",
            "must be between 0 and \(Self.longestBulkDelayFrames) frames")
        try require(
            (-1_000...1_000).contains(loudspeakerClockPPM), "loudspeakerClockPPM",
            "must be between -1,000 and 1,000 ppm")
        try delaySwing?.validate("delaySwing")
        try playbackCompressor?.validate("playbackCompressor")
        try loudspeaker.validate("loudspeaker")
        try noise?.validate("noise")
        try require((-120...40).contains(nearGainDecibels), "nearGainDecibels", "must be between -120 and 40 dB")
    }

    /// Two seconds at 48 kHz: beyond the buffers of any device in use.
    package static let longestBulkDelayFrames = 96_000
}

extension RoomConditions {
    /// A laptop on a desk in a small office: 0.3 s of reverberation, 40 ms of buffers, a fan in the background.
    package static let office = RoomConditions {
        $0.echoPath = ShoeboxRoom(
            size: [4, 3.2, 2.6], loudspeaker: [1.95, 1.45, 0.85], microphone: [1.8, 1.3, 0.95],
            reverberationTime: .milliseconds(300))
        $0.echoReturnLossDecibels = 8
        $0.bulkDelayFrames = 1_920
        $0.loudspeaker = .small
        $0.noise = AmbientNoise(.pink, levelDecibels: -62)
    }

    /// A smart speaker or a television across a furnished living room: 0.5 s of reverberation, 60 ms of buffers.
    package static let livingRoom = RoomConditions {
        $0.echoPath = ShoeboxRoom(
            size: [5.5, 4.2, 2.5], loudspeaker: [1.1, 2.3, 0.9], microphone: [2.4, 1.9, 0.8],
            reverberationTime: .milliseconds(500))
        $0.responseLength = .milliseconds(300)
        $0.echoReturnLossDecibels = 12
        $0.bulkDelayFrames = 2_880
        $0.loudspeaker = Loudspeaker(lowestHertz: 80, saturation: 0.5, secondHarmonic: 0.02)
        $0.noise = AmbientNoise(.pink, levelDecibels: -66)
    }

    /// A hands-free kit in a car at speed: hardly any reverberation, a strong echo, road noise.
    package static let car = RoomConditions {
        $0.echoPath = ShoeboxRoom(
            size: [2.6, 1.45, 1.2], loudspeaker: [0.5, 0.2, 0.4], microphone: [0.9, 0.7, 1.05],
            reverberationTime: .milliseconds(80))
        $0.responseLength = .milliseconds(150)
        $0.echoReturnLossDecibels = 3
        $0.bulkDelayFrames = 2_400
        $0.loudspeaker = Loudspeaker(lowestHertz: 80, saturation: 0.7, secondHarmonic: 0.03)
        $0.noise = AmbientNoise(.brown, levelDecibels: -42)
    }

    /// Headphones and a microphone at the mouth: nothing of the far end is heard.
    package static let headset = RoomConditions {
        $0.noise = AmbientNoise(.pink, levelDecibels: -70)
    }

    /// A room without walls, for what can be computed by hand: direct sound only, no noise, a linear loudspeaker.
    package static let anechoic = RoomConditions {
        $0.echoPath = ShoeboxRoom(
            size: [4, 4, 4], loudspeaker: [2, 2, 2], microphone: [2.5, 2, 2], reverberationTime: .zero)
        $0.responseLength = .milliseconds(10)
        $0.echoReturnLossDecibels = 6
    }

    private init(_ change: (inout RoomConditions) -> Void) {
        self.init()
        change(&self)
    }
}
