internal import VoiceDevices
internal import VoiceRealtime
internal import VoiceTurns

/// What the media thread keeps of a local far end. Whoever opened it keeps the memory until the media thread says that
/// it has let go.
@safe
package struct FarEndHandle: BitwiseCopyable, @unchecked Sendable {
    let number: UInt64
    let queue: UnsafeMutablePointer<SpeechQueue>
    let tap: UnsafeMutablePointer<SoundTap>
    let cells: FarEndCells
    /// Where what it says goes as a stream of the room's, and how that is encoded; nil: to the mix.
    let stream: UnsafeMutablePointer<StreamSender>?
    let encoding: StreamEncoding?

    init(_ line: FarEndLine, number: UInt64) {
        self.number = number
        unsafe queue = line.queue.pointer
        unsafe tap = line.nearEnd.tap.pointer
        cells = line.cells
        unsafe stream = line.stream?.pointer
        encoding = line.encoding
    }

    init(
        number: UInt64, queue: UnsafeMutablePointer<SpeechQueue>, tap: UnsafeMutablePointer<SoundTap>,
        cells: FarEndCells, stream: UnsafeMutablePointer<StreamSender>? = nil, encoding: StreamEncoding? = nil
    ) {
        self.number = number
        unsafe self.queue = queue
        unsafe self.tap = tap
        self.cells = cells
        unsafe self.stream = stream
        self.encoding = encoding
    }
}

/// What the media thread keeps of a sink, the same way.
@safe
package struct SinkHandle: BitwiseCopyable, @unchecked Sendable {
    let number: UInt64
    let source: SinkSource
    let tap: UnsafeMutablePointer<SoundTap>

    init(_ line: SinkLine, number: UInt64, source: SinkSource) {
        self.number = number
        self.source = source
        unsafe tap = line.tap.pointer
    }
}

/// Where a block that is being mixed will lie.
struct MixMoment: BitwiseCopyable {
    /// Where its first frame will lie in the playout ring, and how many of the ring's frames each takes.
    var ringFrame: Double
    var scale: Double
    /// When its first frame will leave the DAC, as far as that is known.
    var dacTime: MonotonicTime?
}

/// The parties in this process that the media thread plays and feeds: local far ends, and the sinks of single
/// participants.
///
///     far end's queue ─► mix          near end, processed and muted ─► far end's sink
///     stream's queue  ─► send ring
///                                     a participant, decoded        ─► its sink
///                                     points of the way             ─► their taps and listeners
///
/// The slot of the mix that a remote talker has in ``StreamTable``, a local one has here: two tables and not one of
/// two-sided slots, since Swift cannot change the payload of a noncopyable enum where it lies.
@safe
struct FarEndTable: ~Copyable {
    /// As many as talkers can be heard at once.
    static let maximumSinks = StreamTable.maximumStreams
    /// Far ends, and streams that apps feed.
    static let maximumLines = 8
    /// What is told in one run at most.
    private static let mostNews = 16
    /// After this a far end that is closed goes, even where a device that stands still keeps the rest of it: 1 s.
    private static let closingNanoseconds: Int64 = 1_000_000_000

    var farEnds = InlineArray<8, FarEndHandle?>(repeating: nil)
    /// Where the streams stand that were withdrawn.
    var sentStreams = SentStreams()
    private var closing = InlineArray<8, MonotonicTime?>(repeating: nil)
    private var sinks = InlineArray<16, SinkHandle?>(repeating: nil)
    private var listeners = InlineArray<4, ListenerHandle?>(repeating: nil)
    private(set) var farEndCount = 0
    private(set) var sinkCount = 0
    private var listenerCount = 0
    private var meters = LevelMeters()
    private let watch: StageWatch?
    private var rendered: ValueConsumer<RenderedSpan>
    private var news: ValueProducer<FarEndNews>
    /// The stage of an interruption that found no room: the last one, which is what counts.
    private var unsentChange: FarEndNews?
    private let wake: WakeHandle?

    init(
        rendered: consuming ValueConsumer<RenderedSpan>, news: consuming ValueProducer<FarEndNews>, wake: WakeHandle?,
        watch: StageWatch? = nil
    ) {
        self.rendered = rendered
        self.news = news
        self.wake = wake
        self.watch = watch
    }

    /// Plays a far end from now on. Whoever opens them sees to it that there are not too many.
    mutating func open(_ handle: FarEndHandle) {
        guard let free = farEnds.indices.first(where: { farEnds[$0] == nil }) else { return }
        farEnds[free] = handle
        closing[free] = nil
        farEndCount += 1
    }

    /// Feeds a sink from now on.
    mutating func open(_ handle: SinkHandle) {
        guard let free = sinks.indices.first(where: { sinks[$0] == nil }) else { return }
        sinks[free] = handle
        sinkCount += 1
    }

    /// Calls a listener from now on.
    mutating func open(_ handle: ListenerHandle) {
        guard let free = listeners.indices.first(where: { listeners[$0] == nil }) else { return }
        listeners[free] = handle
        listenerCount += 1
    }

    /// Feeds a meter from now on.
    mutating func open(_ handle: MeterHandle) { meters.open(handle) }

    // MARK: Sound

    /// Fixes what the next run sees of what the clients say, and of what the playback thread has handed to the device;
    /// and has it recorded.
    mutating func look(_ recorder: inout RunRecorder?) {
        rendered.look()
        for index in 0..<rendered.available { recorder?.append(rendered.peek(ahead: index)) }
        guard farEndCount > 0 else { return }
        for index in farEnds.indices {
            guard let farEnd = farEnds[index] else { continue }
            unsafe farEnd.queue.pointee.look(number: farEnd.number, &recorder)
        }
    }

    /// Takes what the playback thread has handed to the device, for the utterances that were in it: here, and of the
    /// room's talkers.
    mutating func takeRendered(now: MonotonicTime, downlink: inout Downlink) {
        // Not before them: an utterance that ended unheard has nothing to wait for.
        concludeEnds(now: now)
        while let span = rendered.pop() {
            downlink.rendered(span)
            guard farEndCount > 0 else { continue }
            for index in farEnds.indices {
                guard let farEnd = farEnds[index], unsafe farEnd.stream == nil else { continue }
                unsafe farEnd.queue.pointee.trail.rendered(span)
            }
            tellHeard()
        }
        concludeEnds(now: now)
    }

    private func tellHeard() {
        for index in farEnds.indices {
            guard let farEnd = farEnds[index], let utterance = unsafe farEnd.queue.pointee.trail.leavingUtterance else {
                continue
            }
            unsafe farEnd.cells.setHeard(farEnd.queue.pointee.trail.heardFrames, of: utterance)
        }
    }

    private mutating func concludeEnds(now: MonotonicTime) {
        guard farEndCount > 0 else { return }
        for index in farEnds.indices {
            if let farEnd = farEnds[index] { unsafe farEnd.queue.pointee.trail.concludeEnds(now: now) }
        }
    }

    /// Adds what the far ends say to `mix`, through `scratch` of the same length.
    mutating func mix(into mix: inout MutableSpan<Float>, scratch: inout MutableSpan<Float>, at moment: MixMoment) {
        guard farEndCount > 0 else { return }
        for index in farEnds.indices {
            guard let farEnd = farEnds[index], unsafe farEnd.stream == nil else { continue }
            unsafe farEnd.queue.pointee.mix(
                into: &mix, scratch: &scratch, ringFrame: moment.ringFrame, scale: moment.scale)
        }
    }

    /// Whether something of a far end is being heard.
    func isSounding(_ number: UInt64) -> Bool {
        guard let farEnd = farEnd(number) else { return false }
        return unsafe farEnd.queue.pointee.isSounding
    }

    /// Does what somebody who speaks into it brings about; nothing where the far end is gone.
    mutating func change(_ number: UInt64, _ delivery: SpeechDelivery) {
        guard let farEnd = farEnd(number) else { return }
        switch delivery {
        case .ducked(let factor, let frames): unsafe farEnd.queue.pointee.duck(by: factor, over: frames)
        case .held: unsafe farEnd.queue.pointee.hold()
        case .whole(let rewind, let frames):
            unsafe farEnd.queue.pointee.release(rewind: rewind)
            unsafe farEnd.queue.pointee.duck(by: 1, over: frames)
        case .givenUp(let frames):
            farEnd.cells.interrupt()
            unsafe farEnd.queue.pointee.release(rewind: 0)
            unsafe farEnd.queue.pointee.duck(by: 1, over: frames)
        }
    }

    func farEnd(_ number: UInt64) -> FarEndHandle? {
        guard farEndCount > 0 else { return nil }
        for index in farEnds.indices {
            if let farEnd = farEnds[index], farEnd.number == number { return farEnd }
        }
        return nil
    }

    /// Gives the far ends, and who taps it, what a room would get.
    mutating func hear(_ nearEnd: Span<Float>, time: MonotonicTime) {
        hear(.point(.sent), nearEnd, time: time)
        guard farEndCount > 0 else { return }
        for index in farEnds.indices {
            guard let farEnd = farEnds[index], unsafe farEnd.stream == nil else { continue }
            unsafe farEnd.tap.pointee.write(nearEnd, time: time)
        }
    }

    /// Whether anybody listens to single participants.
    var isHeard: Bool { sinkCount + listenerCount > 0 || watch != nil }

    /// Gives a source's sinks and listeners what it sounds at `time`; nothing where that is not known.
    mutating func hear(_ source: SinkSource, _ frames: Span<Float>, time: MonotonicTime?) {
        watch?.hear(Stage(source: source), frames)
        guard let time else { return }
        if sinkCount > 0 {
            for index in sinks.indices {
                guard let sink = sinks[index], sink.source == source else { continue }
                unsafe sink.tap.pointee.write(frames, time: time)
            }
        }
        guard listenerCount > 0 else { return }
        for index in listeners.indices {
            guard let listener = listeners[index], listener.source == source else { continue }
            listener.hear(frames, time: time)
        }
    }

    /// Has the meters measure a block.
    mutating func measure(_ place: LevelMeters.Place, _ block: Span<Float>, isSpeaking: Bool? = nil) {
        meters.hear(place, block, isSpeaking: isSpeaking)
    }

    // MARK: News

    /// Tells what has come to pass, and lets go of what is closed.
    mutating func tell(now: MonotonicTime) {
        if let change = unsentChange, push(change) { unsentChange = nil }
        if meters.count > 0 { tellLevels(now: now) }
        guard farEndCount + sinkCount + listenerCount > 0 else { return }
        var told = 0
        for index in farEnds.indices {
            guard let farEnd = farEnds[index] else { continue }
            told += tellUtterances(of: farEnd, most: Self.mostNews - told, now: now)
            tellRoom(of: farEnd)
            unsafe tellSound(of: farEnd.tap, number: farEnd.number)
            let isOver = unsafe Self.isOver(
                farEnd.queue.pointee.view.isClosed, farEnd.queue.pointee.trail.isEmpty, &closing[index], now)
            guard isOver else { continue }
            // Before it is told: whoever is told may at once free its memory.
            stopStream(of: farEnd)
            guard push(FarEndNews(kind: .closed, line: farEnd.number)) else { continue }
            farEnds[index] = nil
            farEndCount -= 1
        }
        for index in sinks.indices {
            guard let sink = sinks[index] else { continue }
            unsafe tellSound(of: sink.tap, number: sink.number)
            if unsafe sink.tap.pointee.isClosed, push(FarEndNews(kind: .closed, line: sink.number)) {
                sinks[index] = nil
                sinkCount -= 1
            }
        }
        for index in listeners.indices {
            guard let listener = listeners[index], listener.isClosed else { continue }
            guard push(FarEndNews(kind: .closed, line: listener.number)) else { return }
            listeners[index] = nil
            listenerCount -= 1
        }
    }

    private static func isOver(
        _ isClosed: Bool, _ isEmpty: Bool, _ since: inout MonotonicTime?, _ now: MonotonicTime
    ) -> Bool {
        guard isClosed else { return false }
        guard let began = since else {
            // What it was saying fades out first.
            since = now
            return false
        }
        let passed = now.nanoseconds - began.nanoseconds
        return passed >= closingNanoseconds || (isEmpty && passed >= 20_000_000)
    }

    private mutating func tellUtterances(of farEnd: FarEndHandle, most: Int, now: MonotonicTime) -> Int {
        var told = 0
        while told < most, let next = unsafe farEnd.queue.pointee.trail.nextNews(now: now) {
            var item = FarEndNews(kind: next.isEnd ? .utterancePlayed : .utteranceStarted, line: farEnd.number)
            (item.utterance, item.isComplete) = (next.utterance, next.isComplete)
            (item.frames, item.time) = (next.heardFrames, next.time.nanoseconds)
            guard push(item) else { return told }
            unsafe farEnd.queue.pointee.trail.removeNews()
            told += 1
        }
        return told
    }

    private mutating func tellRoom(of farEnd: FarEndHandle) {
        let wanted = farEnd.cells.wantedRoom
        guard wanted > 0, unsafe farEnd.queue.pointee.queuedFrames <= wanted else { return }
        // Before it is told: whoever is told may at once wait for more.
        farEnd.cells.wantedRoom = 0
        if !push(FarEndNews(kind: .room, line: farEnd.number)) { farEnd.cells.wantRoomStill(wanted) }
    }

    private mutating func tellSound(of tap: UnsafeMutablePointer<SoundTap>, number: UInt64) {
        guard let wanted = unsafe tap.pointee.takeWish() else { return }
        if !push(FarEndNews(kind: .sound, line: number)) { unsafe tap.pointee.returnWish(wanted) }
    }

    private mutating func tellLevels(now: MonotonicTime) {
        meters.begin(now: now)
        while let (index, item) = meters.next(now: now), push(item) { meters.told(index, item.kind, now: now) }
    }

    private mutating func push(_ item: FarEndNews) -> Bool {
        guard news.push(item) else { return false }
        wake?.signal()
        return true
    }

    /// Tells that a far end is being spoken into, or no more.
    mutating func tell(_ change: BargeInChange, of number: UInt64) {
        var item = FarEndNews(kind: .bargeIn, line: number)
        (item.stage, item.time) = (change.stage, change.speechStart.nanoseconds)
        item.decided = change.decided.nanoseconds
        if unsentChange != nil || !push(item) { unsentChange = item }
    }

    /// What is counted of each.
    var counts: SpeechCountsTable {
        var table = SpeechCountsTable(unused: SpeechCounts())
        for index in farEnds.indices {
            guard let farEnd = farEnds[index] else { continue }
            var counts = unsafe farEnd.queue.pointee.counts
            counts.line = farEnd.number
            counts.queuedFrames = unsafe farEnd.queue.pointee.queuedFrames
            counts.staleFrames = farEnd.cells.staleFrames
            counts.nearEndDroppedFrames = unsafe farEnd.tap.pointee.droppedFrames
            table.append(counts)
        }
        return table
    }
}
