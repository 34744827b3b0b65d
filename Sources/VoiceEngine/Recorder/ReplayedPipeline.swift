internal import VoiceDevices
internal import VoiceProcessing
internal import VoiceRealtime

/// A media pipeline with the other ends of its rings: before each run, what the recording says that the run saw is put
/// into them.
struct ReplayedPipeline: ~Copyable {
    /// What a machine's monotonic clock can show: 36 years.
    static let times: ClosedRange<Int64> = 0...1 << 60
    /// No count of frames or packets is above this.
    private static let counts: ClosedRange<Int64> = 0...1 << 50

    private var capture: FrameProducer
    private var reference: FrameProducer
    private var playout: FrameConsumer
    private var received: PacketProducer
    private var sending: PacketConsumer
    private var rendered: ValueProducer<RenderedSpan>
    private var commands: ValueProducer<MediaCommand>
    private var events: ValueConsumer<MediaEvent>
    private var news: ValueConsumer<FarEndNews>
    private var statistics: TripleBufferReader<MediaStatistics>
    private var farEnds: [ReplayedFarEnd] = []
    /// The highest number of a far end so far; they rise.
    private var latestFarEnd: UInt64 = 0
    private var captureCommits: [(frame: Int, time: MonotonicTime)] = []
    private var referenceCommits: [(frame: Int, time: MonotonicTime)] = []
    /// Frames that the last views said are seen.
    private var captureSeen = 0
    private var referenceSeen = 0
    /// Given what the loudspeaker was.
    var onPlayback: (Span<Float>) -> Void = { _ in }
    private let networkWake: WakeSignal

    private var pipeline: MediaPipeline

    /// A pipeline as an engine of these settings has it.
    init(_ settings: RecordedSettings, stages: StageWatch) throws(RecordingFault) {
        let configuration = try settings.configuration()
        do throws(EngineError) {
            try self.init(configuration, settings, stages)
        } catch {
            throw .unsupported("the recording's engine cannot be made here: \(error)")
        }
    }

    private init(
        _ configuration: EngineConfiguration, _ settings: RecordedSettings, _ stages: StageWatch
    ) throws(EngineError) {
        let rings = try MediaRings()
        let networkWake = try WakeSignal.made()
        pipeline = try MediaPipeline(
            rings.pipeline, configuration, devicePeriod: Int(settings.devicePeriod),
            keepsDeadlines: settings.keepsDeadlines, networkWake: networkWake.handle, eventWake: nil,
            counters: DeviceCounters(), watch: stages)
        capture = rings.devices.capture
        reference = rings.devices.reference
        playout = rings.devices.playout
        rendered = rings.devices.rendered
        received = rings.control.received
        sending = rings.control.sending
        commands = rings.control.commands
        events = rings.control.events
        news = rings.control.farEndNews
        statistics = rings.control.statistics
        self.networkWake = networkWake
    }

    /// Runs it once.
    mutating func run(_ clock: RunClock) { _ = pipeline.run(clock) }

    // MARK: Before a run

    /// Has the next run take a command.
    mutating func send(_ command: RecordedCommand) throws(RecordingFault) {
        switch command {
        case .openSink, .openMeter: break
        case .media(let command):
            guard commands.push(command) else { throw .malformed("more commands in a run than its ring holds") }
        case .openFarEnd(let number): try open(number, nil)
        case .openStream(let number, let encoding): try open(number, encoding)
        }
    }

    private mutating func open(_ number: UInt64, _ encoding: StreamEncoding?) throws(RecordingFault) {
        let isFree = farEnds.count < FarEndTable.maximumLines && !farEnds.contains { $0.number == number }
        guard isFree else { throw .malformed("one far end too many") }
        do throws(EngineError) {
            let farEnd = try ReplayedFarEnd(number: number, encoding)
            farEnds.append(farEnd)
            latestFarEnd = max(latestFarEnd, number)
            guard commands.push(.openFarEnd(farEnd.handle)) else {
                throw EngineError.overloaded
            }
        } catch {
            throw .unsupported("a far end cannot be made here: \(error)")
        }
    }

    /// Takes a piece of what the run saw.
    mutating func take(_ kind: RecordedPiece, _ bytes: Span<UInt8>) throws(RecordingFault) {
        switch kind {
        case .captureView: captureSeen = try Self.view(bytes, of: capture.writtenFrames, into: &captureCommits)
        case .referenceView: referenceSeen = try Self.view(bytes, of: reference.writtenFrames, into: &referenceCommits)
        case .captureSound: _ = try Self.put(bytes, upTo: captureSeen, captureCommits, into: &capture)
        case .referenceSound:
            let frames = try Self.put(bytes, upTo: referenceSeen, referenceCommits, into: &reference)
            onPlayback(frames.span)
        case .rendered: try takeRendered(bytes)
        case .packet: try takePacket(bytes)
        case .progress:
            let playback = try takeProgress(bytes)
            pipeline.replayedPlayback = playback
        case .farEndView, .farEndMarks, .farEndSound: try takeFarEnd(kind, bytes)
        case .run, .command, .readings, .digests, .gap, .end: throw .malformed("\(kind) in the middle of a run")
        }
    }

    private static func require(_ holds: Bool, _ complaint: String) throws(RecordingFault) {
        guard holds else { throw .malformed(complaint) }
    }

    private static func count(_ bytes: Span<UInt8>, _ index: Int) throws(RecordingFault) -> Int {
        let value = bytes.number(at: 8 * index)
        try require(counts.contains(value), "a count of \(value)")
        return Int(value)
    }

    private static func time(_ bytes: Span<UInt8>, _ index: Int) throws(RecordingFault) -> MonotonicTime {
        let value = bytes.number(at: 8 * index)
        try require(times.contains(value), "an impossible time")
        return MonotonicTime(nanoseconds: value)
    }

    private static func view(
        _ bytes: Span<UInt8>, of written: Int, into commits: inout [(frame: Int, time: MonotonicTime)]
    ) throws(RecordingFault) -> Int {
        try require(bytes.count >= 8 && bytes.count % 16 == 8, "a view of \(bytes.count) bytes")
        let seen = try count(bytes, 0)
        commits.removeAll(keepingCapacity: true)
        var before = written
        for index in 0..<(bytes.count - 8) / 16 {
            let (frame, time) = (try count(bytes, 1 + 2 * index), try time(bytes, 2 + 2 * index))
            try require(frame >= before && frame < seen, "a commit out of order")
            before = frame
            commits.append((frame, time))
        }
        return seen
    }

    /// Puts frames into a ring, with the times at which they were committed.
    private static func put(
        _ bytes: Span<UInt8>, upTo seen: Int, _ commits: [(frame: Int, time: MonotonicTime)],
        into ring: inout FrameProducer
    ) throws(RecordingFault) -> [Float] {
        let frames = floats(bytes, from: 0)
        let first = ring.writtenFrames
        try require(seen - first == frames.count && frames.count <= ring.capacity, "a view without its frames")
        var done = 0
        var time = commits.first?.time ?? MonotonicTime(nanoseconds: 0)
        // A commit that found no room for its time went on from the one before.
        for (index, commit) in commits.enumerated() where commit.frame - first > done || index == commits.count {
            done += ring.write(frames.span.extracting(done..<commit.frame - first), time: time)
            time = commit.time
        }
        if let last = commits.last { time = last.time }
        done += ring.write(frames.span.extracting(done..<frames.count), time: time)
        try require(done == frames.count, "more frames than the ring holds")
        return frames
    }

    private static func floats(_ bytes: Span<UInt8>, from first: Int) -> [Float] {
        (0..<max(bytes.count - first, 0) / 4).map { Float(bitPattern: bytes.word(at: first + 4 * $0)) }
    }

    private mutating func takeRendered(_ bytes: Span<UInt8>) throws(RecordingFault) {
        try Self.require(bytes.count == 24, "a rendered span of \(bytes.count) bytes")
        let span = RenderedSpan(
            firstFrame: try Self.count(bytes, 0), frames: try Self.count(bytes, 1), dacTime: try Self.time(bytes, 2))
        try Self.require(span.frames <= 1 << 20, "a rendered span of \(span.frames) frames")
        try Self.require(rendered.push(span), "more rendered spans than the ring holds")
    }

    private mutating func takePacket(_ bytes: Span<UInt8>) throws(RecordingFault) {
        try Self.require(bytes.count >= 16, "a packet of \(bytes.count) bytes")
        let time = try Self.time(bytes, 0)
        let (length, kept) = (bytes.word(at: 8), bytes.word(at: 12))
        try Self.require(length == kept && bytes.count == 16 + Int(kept), "a packet is cut off")
        let isTaken = received.push(bytes.extracting(16..<bytes.count), tag: PacketTag(time: time))
        try Self.require(isTaken, "more packets than the ring holds")
    }

    private mutating func takeProgress(_ bytes: Span<UInt8>) throws(RecordingFault) -> DirectionCounts {
        try Self.require(bytes.count == 40, "progress of \(bytes.count) bytes")
        var playback = DirectionCounts()
        (playback.underrunFrames, playback.filledGapFrames) = (try Self.count(bytes, 0), try Self.count(bytes, 4))
        let drift = Double(bitPattern: UInt64(bitPattern: bytes.number(at: 8)))
        try Self.require(drift.isNaN || abs(drift) < 1e6, "a drift of \(drift) ppm")
        playback.driftPPM = drift.isNaN ? nil : drift
        let (played, sent) = (
            try Self.count(bytes, 2) - playout.readFrames, try Self.count(bytes, 3) - sending.readPackets
        )
        try Self.require((0...playout.available).contains(played), "more was played than was mixed")
        try Self.require((0...sending.available).contains(sent), "more was sent than was made")
        playout.release(played)
        sending.release(sent)
        return playback
    }

    private mutating func takeFarEnd(_ kind: RecordedPiece, _ bytes: Span<UInt8>) throws(RecordingFault) {
        try Self.require(bytes.count >= 16, "a far end of \(bytes.count) bytes")
        let number = UInt64(bitPattern: bytes.number(at: 0))
        guard let farEnd = farEnds.first(where: { $0.number == number }) else {
            // One that is gone was kept for longer where its end could not be told at once; nothing is heard of it.
            return try Self.require(number <= latestFarEnd, "an unknown far end")
        }
        switch kind {
        case .farEndMarks:
            try Self.require(bytes.count == 32, "a mark of \(bytes.count) bytes")
            try farEnd.mark(
                SpeechMark(
                    frame: try Self.count(bytes, 1), utterance: UInt32(truncatingIfNeeded: bytes.number(at: 16)),
                    isEnd: bytes.number(at: 24) != 0))
        case .farEndView:
            try Self.require(bytes.count == 40, "a view of \(bytes.count) bytes")
            let gain = Float(bitPattern: UInt32(truncatingIfNeeded: bytes.number(at: 24)))
            try Self.require((0...1_000).contains(gain), "a volume of \(gain)")
            try farEnd.see(
                SpeechView(
                    isClosed: bytes.number(at: 32) != 0, interruptedBound: UInt64(bitPattern: bytes.number(at: 16)),
                    gain: gain), written: try Self.count(bytes, 1))
        default: try farEnd.put(Self.floats(bytes, from: 16), from: try Self.count(bytes, 1))
        }
    }

    // MARK: After a run

    /// Takes what the run told.
    mutating func collect(_ tell: (String) -> Void) {
        while let event = events.pop() { tell("\(event)") }
        while let item = news.pop() {
            guard item.kind == .closed else { continue }
            farEnds.removeAll { $0.number == item.line }
        }
    }
}

/// A far end of a replay: the queue, with the client's end in the recording's hands.
final class ReplayedFarEnd {
    let number: UInt64
    let handle: FarEndHandle
    private let queue: OwnedMemory<SpeechQueue>
    private let stream: StreamMemory?
    private let nearEnd: SinkLine
    private var samples: FrameProducer
    private var marks: ValueProducer<SpeechMark>
    /// Marks lie behind what was seen before.
    private var seen = 0

    /// As long a queue as any may be.
    init(number: UInt64, _ encoding: StreamEncoding? = nil) throws(EngineError) {
        if let encoding { stream = try StreamMemory(encoding) } else { stream = nil }
        let ring = try FrameRing.made(frames: FarEndConfiguration(queue: .seconds(120)).queueFrames)
        let marks = ValueRing<SpeechMark>(minimumCapacity: SpeechFeed.markCapacity)
        nearEnd = try SinkLine(rate: .hertz48000)
        queue = OwnedMemory(SpeechQueue(samples: ring.consumer, marks: marks.consumer, cells: nearEnd.cells))
        samples = ring.producer
        self.marks = marks.producer
        self.number = number
        unsafe handle = FarEndHandle(
            number: number, queue: queue.pointer, tap: nearEnd.tap.pointer, cells: nearEnd.cells,
            stream: stream?.pointer, encoding: encoding)
    }

    func mark(_ mark: SpeechMark) throws(RecordingFault) {
        guard mark.frame >= seen, marks.push(mark) else { throw .malformed("a mark out of order") }
    }

    /// The frames up to there are in the queue; what they are comes before they are played.
    func see(_ view: SpeechView, written: Int) throws(RecordingFault) {
        unsafe queue.pointer.pointee.replayed = view
        guard written >= seen, written - samples.writtenFrames <= samples.capacity else {
            throw .malformed("a far end's queue out of order")
        }
        while samples.writtenFrames < written {
            let room = samples.acquire(written - samples.writtenFrames).count
            guard room > 0 else { throw .malformed("more frames than the far end's queue holds") }
            samples.commit(room, time: MonotonicTime(nanoseconds: 0))
        }
        seen = written
    }

    func put(_ frames: [Float], from first: Int) throws(RecordingFault) {
        guard samples.amend(frames.span, from: first) else { throw .malformed("a far end's frames out of order") }
    }
}
