public import VoiceDevices

/// The air of one participant's room: what the loudspeaker and the near talker make of the microphone, with a record of all of it.
///
/// Goes into a `SimulatedDevice`. The record's memory is taken when it is made, so that nothing is allocated while it runs; after its
/// end nothing more is recorded.
public struct ConversationAir: AcousticAir, ~Copyable {
    /// What was heard and said so far.
    public private(set) var recording: AirRecording
    private var acoustics: RoomAcoustics
    private var talker: SpeechSource
    private var near: [Float]
    private var echo: [Float]

    /// The most frames that are processed at a time; longer periods are cut.
    private static let blockFrames = 480

    /// Air with this room and this near talker, that records for at most `longestRecording` frames.
    public init(acoustics: consuming RoomAcoustics, talker: SpeechSource, longestRecording: Int) {
        self.acoustics = acoustics
        self.talker = talker
        recording = AirRecording(capacity: longestRecording)
        near = Array(repeating: 0, count: Self.blockFrames)
        echo = near
    }

    /// Carries the next frames through the room.
    public mutating func process(speaker: Span<Float>, into microphone: inout MutableSpan<Float>) {
        var start = 0
        while start < speaker.count {
            let count = min(Self.blockFrames, speaker.count - start)
            var nearSpan = near.mutableSpan
            var nearBlock = nearSpan.extracting(0..<count)
            talker.read(into: &nearBlock)
            var echoSpan = echo.mutableSpan
            var echoBlock = echoSpan.extracting(0..<count)
            let heard = speaker.extracting(start..<start + count)
            var microphoneBlock = microphone.extracting(start..<start + count)
            acoustics.process(speaker: heard, near: nearBlock.span, into: &microphoneBlock, echo: &echoBlock)
            recording.append(speaker: heard, near: nearBlock.span, microphone: microphoneBlock.span, echo: echoBlock.span)
            start += count
        }
    }
}

/// What happened in one participant's room, frame by frame on the same clock: 48 kHz mono, full scale ±1.
public struct AirRecording: Sendable {
    /// What the loudspeaker sounded.
    public private(set) var speaker: [Float]
    /// What the near talker said.
    public private(set) var near: [Float]
    /// What the microphone heard of all.
    public private(set) var microphone: [Float]
    /// What the loudspeaker alone added to the microphone.
    public private(set) var echo: [Float]
    private let capacity: Int

    /// An empty record of at most `capacity` frames.
    public init(capacity: Int) {
        self.capacity = capacity
        speaker = []
        speaker.reserveCapacity(capacity)
        near = []
        near.reserveCapacity(capacity)
        microphone = []
        microphone.reserveCapacity(capacity)
        echo = []
        echo.reserveCapacity(capacity)
    }

    /// Frames recorded.
    public var frames: Int { microphone.count }

    mutating func append(speaker: Span<Float>, near: Span<Float>, microphone: Span<Float>, echo: Span<Float>) {
        for index in 0..<min(speaker.count, capacity - frames) {
            self.speaker.append(speaker[index])
            self.near.append(near[index])
            self.microphone.append(microphone[index])
            self.echo.append(echo[index])
        }
    }
}
