package import VoiceEngine
package import VoicePeers
package import VoiceRooms
package import VoiceSimulation

/// A call whose paths nothing protects: what is said and heard is the same.
package typealias SimulatedCall = SimulatedCallOver<Plaintext>

/// The two sides of a simulated call.
package enum SimulatedCallSide: Int, CaseIterable, Sendable {
    /// The first.
    case a
    /// The second.
    case b

    /// The one opposite.
    package var other: SimulatedCallSide { self == .a ? .b : .a }
}

/// What a simulated call is made of.
package struct SimulatedCallConfiguration: Sendable {
    /// Where every random number comes from.
    package var seed: UInt64 = 1
    /// The engines' configuration; the device in it is not used.
    package var engine: EngineConfiguration = .voiceChat
    /// The links between each engine and the room.
    package var network: NetworkConditions = .lan
    /// The room around each engine.
    package var rooms: [RoomConditions] = [.office, .livingRoom]
    /// Who speaks in each room.
    package var talkers: [SpeechSource]
    /// How much faster than nominal each device runs, in ppm.
    package var driftPPM: [Double] = [0, 0]
    /// The same of each loudspeaker, where that has a clock of its own, apart from its microphone's.
    package var playbackDriftPPM: [Double]?
    /// Frames in a device period.
    package var periodFrames = 240
    /// The longest that the call may last.
    package var longest: Duration = .seconds(60)
    /// How much of it is recorded at a time, until the recording is taken; nil for all. Memory is taken for this long.
    package var recorded: Duration?

    /// What is recorded of each side's media work, for a replay.
    package var recordings: [RecordingConfiguration?] = [nil, nil]
    /// Whether the recordings are written as they come; if not, it is as if the disk stood still.
    package var writesRecordings = true

    /// Who may interrupt what is published with the join; nil: it is published behind it, which takes a round trip
    /// more.
    package var publishing: InterruptionPolicy?

    /// A call between two talkers, one in each room.
    package init(talkers: [SpeechSource]) {
        precondition(talkers.count == 2, "two sides")
        self.talkers = talkers
    }
}
