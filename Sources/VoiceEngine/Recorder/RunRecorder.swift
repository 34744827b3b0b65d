internal import VoiceDevices
internal import VoiceRealtime

/// What a piece of a recorded run is. Numbers are little-endian; every piece begins at a multiple of 8 bytes, behind
/// its kind and its length, 4 bytes each.
enum RecordedPiece: UInt32 {
    /// Begins a run: see ``RunRecorder/begin(_:)``.
    case run = 1
    /// A command that was taken.
    case command
    /// How much of the capture ring is seen, from which commits on; and the frames themselves.
    case captureView, captureSound
    /// The same of the reference ring.
    case referenceView, referenceSound
    /// Frames that left the DAC.
    case rendered
    /// A packet that came in.
    case packet
    /// How far the device and the network have come.
    case progress
    /// What is seen of a far end in this process, its marks, and its frames that may be played in this run.
    case farEndView, farEndMarks, farEndSound
    /// The clock's readings during the run.
    case readings
    /// What has passed each stage so far.
    case digests
    /// Runs that are missing before this one.
    case gap
    /// The recording ends here, and why.
    case end
}

/// How much of a ring is recorded.
struct RecordedFrames: BitwiseCopyable {
    var frames = 0
    var commits = 0
}

/// The media thread's end of a recording: copies what the run sees into a ring, and that is all.
///
///     pop commands ─┐
///     look at rings ┴─► pieces of one record ══► ring ══► RecordingWriter, a thread of its own ─► file
///
/// All that the pipeline's work depends on passes ``MediaPipeline/look(_:)``, and there it is recorded. A record that
/// finds no room is dropped whole and counted: the recording then has a gap. Allocates nothing and waits for nobody.
struct RunRecorder: ~Copyable, @unchecked Sendable {
    /// Between two digests of what has passed each stage: 1 s.
    static let digestInterval: Int64 = 1_000_000_000
    /// How far ahead of what is played a far end's queue is recorded: what one run can pull at most, the playout ring.
    static let farEndReach = 16_384

    private var ring: RecordProducer
    let includesSound: Bool
    let tape: ClockTape
    let stages: StageWatch
    private var capture = RecordedFrames()
    private var reference = RecordedFrames()
    private var packets = 0
    private var lostRuns: Int64 = 0
    private var lastDigest: Int64?
    private var start: Int64 = 0

    init(ring: consuming RecordProducer, includesSound: Bool, tape: ClockTape, stages: StageWatch) {
        self.ring = ring
        self.includesSound = includesSound
        self.tape = tape
        self.stages = stages
    }

    // MARK: A run

    /// Begins the record of a run.
    mutating func begin(_ start: MonotonicTime) {
        tape.clear()
        self.start = start.nanoseconds
        if lostRuns > 0 { append(.gap, [lostRuns]) }
        append(.run, [start.nanoseconds])
    }

    /// Hands the record over.
    mutating func finish() {
        if tape.count > 0, let piece = unsafe piece(.readings, tape.count * 8) {
            let target = unsafe piece.assumingMemoryBound(to: Int64.self)
            for index in 0..<tape.count { unsafe target[index] = tape[index] }
        }
        let isDue = lastDigest.map { start &- $0 >= Self.digestInterval } ?? true
        if isDue {
            lastDigest = start
            appendDigests()
        }
        // A run whose clock cannot be read again is as good as lost.
        if tape.isShort { ring.spoil() }
        if ring.commit() { lostRuns = 0 } else { lostRuns &+= 1 }
    }

    private mutating func appendDigests() {
        guard stages.count > 0, let piece = unsafe piece(.digests, stages.count * 24) else { return }
        let target = unsafe piece.assumingMemoryBound(to: UInt64.self)
        for index in 0..<stages.count {
            let digest = stages[index]
            unsafe target[3 * index] = digest.stage.code
            unsafe target[3 * index + 1] = digest.hash
            unsafe target[3 * index + 2] = UInt64(bitPattern: digest.count)
        }
    }

    // MARK: Pieces

    mutating func append(_ command: MediaCommand) {
        guard let piece = unsafe piece(.command, MemoryLayout<MediaCommand>.size) else { return }
        unsafe piece.assumingMemoryBound(to: MediaCommand.self).initialize(to: command)
    }

    mutating func append(_ span: RenderedSpan) {
        append(.rendered, [Int64(span.firstFrame), Int64(span.frames), span.dacTime.nanoseconds])
    }

    /// How far the device and the network have come.
    mutating func append(_ playback: DirectionCounts, playoutTaken: Int, packetsTaken: Int) {
        append(
            .progress,
            [
                Int64(playback.underrunFrames), Int64(bitPattern: (playback.driftPPM ?? .nan).bitPattern),
                Int64(playoutTaken), Int64(packetsTaken), Int64(playback.filledGapFrames),
            ])
    }

    mutating func append(capture ring: borrowing FrameConsumer) {
        Self.append(ring, .captureView, .captureSound, &capture, includesSound: includesSound, to: &self.ring)
    }

    mutating func append(reference ring: borrowing FrameConsumer) {
        Self.append(ring, .referenceView, .referenceSound, &reference, includesSound: includesSound, to: &self.ring)
    }

    private static func append(
        _ frames: borrowing FrameConsumer, _ view: RecordedPiece, _ sound: RecordedPiece,
        _ done: inout RecordedFrames, includesSound: Bool, to ring: inout RecordProducer
    ) {
        let written = frames.writtenFrames
        guard written > done.frames else { return }
        var commits = 0
        while let commit = frames.commit(done.commits + commits), commit.frame < written { commits += 1 }
        if let piece = unsafe piece(view, 8 + 16 * commits, of: &ring) {
            let target = unsafe piece.assumingMemoryBound(to: Int64.self)
            unsafe target[0] = Int64(written)
            for index in 0..<commits {
                guard let commit = frames.commit(done.commits + index) else { break }
                unsafe target[1 + 2 * index] = Int64(commit.frame)
                unsafe target[2 + 2 * index] = commit.time.nanoseconds
            }
        }
        if includesSound {
            let span = frames.peek(written - done.frames, ahead: done.frames - frames.readFrames)
            append(sound, nil, span, to: &ring)
        }
        done = RecordedFrames(frames: written, commits: done.commits + commits)
    }

    /// The packets that have come in since the last look; without sound their headers.
    mutating func append(packets ring: borrowing PacketConsumer) {
        let seen = ring.readPackets + ring.available
        while packets < seen {
            let offset = packets - ring.readPackets
            let bytes = ring.peek(ahead: offset)
            let tag = ring.tag(ahead: offset)
            let kept = includesSound ? bytes.count : Self.headerBytes(of: bytes)
            packets += 1
            guard let piece = unsafe piece(.packet, 16 + kept) else { continue }
            unsafe piece.storeBytes(of: tag.time.nanoseconds, as: Int64.self)
            unsafe piece.storeBytes(of: UInt32(bytes.count), toByteOffset: 8, as: UInt32.self)
            unsafe piece.storeBytes(of: UInt32(kept), toByteOffset: 12, as: UInt32.self)
            let source = unsafe bytes.withUnsafeBufferPointer { $0.baseAddress }
            if kept > 0, let source = unsafe source { unsafe (piece + 16).copyMemory(from: source, byteCount: kept) }
        }
    }

    /// The fixed header of RTP (RFC 3550, section 5.1), and the whole of RTCP, which has no sound in it.
    private static func headerBytes(of packet: Span<UInt8>) -> Int {
        let isReport = packet.count > 1 && (192...223).contains(packet[1])
        return isReport ? packet.count : min(packet.count, 12)
    }

    /// What is seen of a far end's queue.
    mutating func append(_ number: UInt64, _ view: SpeechView, available: Int) {
        append(
            .farEndView,
            [
                Int64(bitPattern: number), Int64(available), Int64(bitPattern: view.interruptedBound),
                Int64(view.gain.bitPattern), view.isClosed ? 1 : 0,
            ])
    }

    mutating func append(_ number: UInt64, _ mark: SpeechMark) {
        append(.farEndMarks, [Int64(bitPattern: number), Int64(mark.frame), Int64(mark.utterance), mark.isEnd ? 1 : 0])
    }

    mutating func append(_ number: UInt64, from first: Int, _ frames: Span<Float>) {
        guard includesSound else { return }
        Self.append(.farEndSound, (Int64(bitPattern: number), Int64(first)), frames, to: &ring)
    }

    private static func append(
        _ kind: RecordedPiece, _ head: (Int64, Int64)?, _ frames: Span<Float>, to ring: inout RecordProducer
    ) {
        let before = head == nil ? 0 : 16
        let bytes = frames.count * MemoryLayout<Float>.stride
        guard let piece = unsafe piece(kind, before + bytes, of: &ring) else { return }
        if let head {
            unsafe piece.storeBytes(of: head.0, as: Int64.self)
            unsafe piece.storeBytes(of: head.1, toByteOffset: 8, as: Int64.self)
        }
        let source = unsafe frames.withUnsafeBufferPointer { $0.baseAddress }
        if let source = unsafe source { unsafe (piece + before).copyMemory(from: source, byteCount: bytes) }
    }

    private mutating func append<let count: Int>(_ kind: RecordedPiece, _ values: InlineArray<count, Int64>) {
        guard let piece = unsafe piece(kind, count * 8) else { return }
        let target = unsafe piece.assumingMemoryBound(to: Int64.self)
        for index in 0..<count { unsafe target[index] = values[index] }
    }

    private mutating func piece(_ kind: RecordedPiece, _ bytes: Int) -> UnsafeMutableRawPointer? {
        unsafe Self.piece(kind, bytes, of: &ring)
    }

    private static func piece(
        _ kind: RecordedPiece, _ bytes: Int, of ring: inout RecordProducer
    ) -> UnsafeMutableRawPointer? {
        guard let place = unsafe ring.piece(8 + bytes) else { return nil }
        unsafe place.storeBytes(of: kind.rawValue, as: UInt32.self)
        unsafe place.storeBytes(of: UInt32(truncatingIfNeeded: bytes), toByteOffset: 4, as: UInt32.self)
        return unsafe place + 8
    }
}
