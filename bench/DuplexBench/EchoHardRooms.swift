import VoiceSimulation

/// A room with one thing in it that makes echo hard to cancel; the far end is alone first, then both talk.
struct HardRoom {
    /// What the far end plays.
    enum FarEnd {
        case speech, music
        /// Speech that a wireless loudspeaker gets through a codec; the canceller's reference is what went in.
        case codedSpeech
    }

    static let frames = 12 * 48_000
    /// When the near talker begins, in frames.
    static let nearStart = 6 * 48_000
    /// Where the far end is alone and has been for a while, in frames.
    static let farAlone = 3 * 48_000..<nearStart

    let name: String
    var conditions: RoomConditions
    var farEnd = FarEnd.speech
    /// As loud as the echo of an office is.
    var nearDecibels = -31.0
    /// Level of a second near talker who talks all the time; nil: there is none.
    var competitorDecibels: Double?
    /// Level of a crowd behind the near talker, whom nobody wants to hear; nil: there is none.
    var crowdDecibels: Double?
    var automaticGain: AutomaticGain?
    /// When a hand is on the microphone, in frames.
    var covered: [Range<Int>] = []
    /// By how much the delay of the buffers jumps every two seconds, in frames, in turn.
    var delayJumps: [Int] = []

    init(_ name: String, _ change: (inout HardRoom) -> Void) {
        self.name = name
        conditions = .office
        conditions.noise = AmbientNoise(.pink, levelDecibels: -75)
        change(&self)
    }

    /// The echo return loss in dB by which a compressor's echo is as loud as another's: it takes some 12 dB from
    /// speech.
    private static let compressedLoss = -4.0

    static let all: [HardRoom] = [
        HardRoom("none: an office") { _ in },
        HardRoom("strained cone") { $0.conditions.loudspeaker = .strained },
        HardRoom("rattle") { $0.conditions.loudspeaker = .rattling },
        HardRoom("clipping amplifier") { $0.conditions.loudspeaker.amplifierCeiling = 0.12 },
        HardRoom("compressor") {
            $0.conditions.playbackCompressor = Compressor(thresholdDecibels: -36)
            $0.conditions.echoReturnLossDecibels = compressedLoss
        },
        HardRoom("automatic gain") { $0.automaticGain = AutomaticGain() },
        HardRoom("codec, 12 kbit/s") { $0.farEnd = .codedSpeech },
        HardRoom("somebody walks") {
            $0.conditions.echoPath = RoomConditions.livingRoom.echoPath
            $0.conditions.movement = .walker(share: 0.6, step: .milliseconds(1_200))
        },
        HardRoom("microphone sways") {
            $0.conditions.movement = .microphone(reach: [0.06, 0.06, 0.03], step: .milliseconds(600))
        },
        HardRoom("hand over the microphone") { $0.covered = [4 * 48_000..<5 * 48_000, 8 * 48_000..<10 * 48_000] },
        HardRoom("noise") { $0.conditions.noise = AmbientNoise(.pink, levelDecibels: -46) },
        HardRoom("crowd") { $0.crowdDecibels = -46 },
        HardRoom("second talker") { $0.competitorDecibels = -41 },
        HardRoom("music") { $0.farEnd = .music },
        HardRoom("music, strained cone") {
            $0.farEnd = .music
            $0.conditions.loudspeaker = .strained
        },
        HardRoom("reverberation 0.9 s") {
            $0.conditions.echoPath = ShoeboxRoom(
                size: [8, 6, 3.2], loudspeaker: [3.1, 2.2, 1], microphone: [4.2, 3.2, 1.2],
                reverberationTime: .milliseconds(900))
            $0.conditions.responseLength = .milliseconds(900)
        },
        HardRoom("echo 12 dB over the talker") {
            $0.conditions.echoReturnLossDecibels = 0
            $0.nearDecibels = -35
        },
        HardRoom("delay 450 ms") { $0.conditions.bulkDelayFrames = 21_600 },
        HardRoom("delay jumps") { $0.delayJumps = [960, -480, 720] },
        HardRoom("delay swings") { $0.conditions.delaySwing = DelaySwing(frames: 10, period: .seconds(5)) },
        HardRoom("phone on a table") {
            $0.conditions.loudspeaker = .strained
            $0.conditions.loudspeaker.cone?.rattle = Loudspeaker.rattling.cone?.rattle
            $0.conditions.playbackCompressor = Compressor(thresholdDecibels: -36)
            $0.conditions.echoReturnLossDecibels = compressedLoss
            $0.automaticGain = AutomaticGain()
        },
    ]
}
