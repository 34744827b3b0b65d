internal import VoiceDevices
package import VoiceSimulation

/// The air of one participant's room: what the loudspeaker and the near talker make of the microphone, with a record of
/// all of it.
///
/// Goes into a `SimulatedDevice`. The record's memory is taken when it is made, so that nothing is allocated while it
/// runs; after its end nothing more is recorded.
package struct ConversationAir: AcousticAir, ~Copyable {
    /// What was heard and said so far.
    package private(set) var recording: AirRecording
    private var acoustics: RoomAcoustics
    private var talker: SpeechSource
    private var near: [Float]
    private var echo: [Float]

    /// The most frames that are processed at a time; longer periods are cut.
    private static let blockFrames = 480

    /// Air with this room and this near talker, that records for at most `longestRecording` frames.
    package init(acoustics: consuming RoomAcoustics, talker: SpeechSource, longestRecording: Int) {
        self.acoustics = acoustics
        self.talker = talker
        recording = AirRecording(capacity: longestRecording)
        near = Array(repeating: 0, count: Self.blockFrames)
        echo = near
    }

    /// How much weaker the echo is than what the loudspeaker is given, dB; a change takes effect with the next frame,
    /// as when somebody turns the volume.
    package var echoReturnLossDecibels: Double {
        get { acoustics.echoReturnLossDecibels }
        set { acoustics.echoReturnLossDecibels = newValue }
    }

    /// Frames of buffers that the device's times do not tell of; a change takes effect with the next frame.
    package var bulkDelayFrames: Int {
        get { acoustics.bulkDelayFrames }
        set { acoustics.bulkDelayFrames = newValue }
    }

    /// Hands out what was recorded since the beginning or the last time, and records anew.
    package mutating func takeRecording() -> AirRecording {
        let taken = recording
        recording = AirRecording(capacity: taken.capacity)
        return taken
    }

    /// Carries the next frames through the room.
    package mutating func process(speaker: Span<Float>, into microphone: inout MutableSpan<Float>) {
        var start = 0
        while start < speaker.count {
            let heard = speaker.extracting(start..<min(start + Self.blockFrames, speaker.count))
            Self.speak(&talker, heard.count, into: &near)
            Self.render(&acoustics, heard, near: near, echo: &echo, into: &microphone, from: start)
            let block = microphone.span.extracting(start..<start + heard.count)
            Self.record(&recording, speaker: heard, near: near, microphone: block, echo: echo)
            start += heard.count
        }
    }

    // Static, because a span of one member keeps the whole of a noncopyable `self` busy.

    private static func speak(_ talker: inout SpeechSource, _ count: Int, into near: inout [Float]) {
        var all = near.mutableSpan
        var block = all._mutatingExtracting(0..<count)
        talker.read(into: &block)
    }

    private static func render(
        _ acoustics: inout RoomAcoustics, _ heard: Span<Float>, near: [Float], echo: inout [Float],
        into microphone: inout MutableSpan<Float>, from start: Int
    ) {
        var all = echo.mutableSpan
        var echoBlock = all._mutatingExtracting(0..<heard.count)
        var microphoneBlock = microphone._mutatingExtracting(start..<start + heard.count)
        acoustics.process(
            speaker: heard, near: near.span.extracting(0..<heard.count), into: &microphoneBlock, echo: &echoBlock)
    }

    private static func record(
        _ recording: inout AirRecording, speaker: Span<Float>, near: [Float], microphone: Span<Float>, echo: [Float]
    ) {
        let range = 0..<speaker.count
        recording.append(
            speaker: speaker, near: near.span.extracting(range), microphone: microphone,
            echo: echo.span.extracting(range))
    }
}

/// What happened in one participant's room, frame by frame on the same clock: 48 kHz mono, full scale ±1.
package struct AirRecording: Sendable {
    /// What the loudspeaker sounded.
    package private(set) var speaker: [Float]
    /// What the near talker said.
    package private(set) var near: [Float]
    /// What the microphone heard of all.
    package private(set) var microphone: [Float]
    /// What the loudspeaker alone added to the microphone.
    package private(set) var echo: [Float]
    fileprivate let capacity: Int

    /// An empty record of at most `capacity` frames.
    package init(capacity: Int) {
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
    package var frames: Int { microphone.count }

    mutating func append(speaker: Span<Float>, near: Span<Float>, microphone: Span<Float>, echo: Span<Float>) {
        for index in 0..<min(speaker.count, capacity - frames) {
            self.speaker.append(speaker[index])
            self.near.append(near[index])
            self.microphone.append(microphone[index])
            self.echo.append(echo[index])
        }
    }
}
