internal import VoiceRealtime

/// Moves sound from the ring of a device to its output file, behind the loudspeaker, and tells what became of both
/// files. For one thread at a time; blocks on the disk.
struct FileOutput: ~Copyable {
    /// The first error of the file; from then on it is left alone.
    private(set) var failure: AudioFileError?
    private var writer: AudioFileWriter?
    private var ring: FrameConsumer
    private var gaps: ValueConsumer<OutputGap>
    private var nextGap: OutputGap?
    /// Frames taken out of the ring, and frames that are in the file or would be.
    private var taken = 0
    private var position = 0
    private let progress: FileProgress
    private var hasToldEnd = false
    /// A tenth of a second: what is moved at a time.
    private static let blockFrames = 4_800

    init(
        _ configuration: FileDeviceConfiguration, ring: consuming FrameConsumer,
        gaps: consuming ValueConsumer<OutputGap>, progress: FileProgress
    ) throws(AudioFileError) {
        let writer = try Self.writer(configuration)
        self.init(writer, ring, gaps, progress)
    }

    private init(
        _ writer: consuming AudioFileWriter?, _ ring: consuming FrameConsumer,
        _ gaps: consuming ValueConsumer<OutputGap>, _ progress: FileProgress
    ) {
        self.writer = writer
        self.ring = ring
        self.gaps = gaps
        self.progress = progress
    }

    private static func writer(_ configuration: FileDeviceConfiguration) throws(AudioFileError) -> AudioFileWriter? {
        guard let path = configuration.output else { return nil }
        return try AudioFileWriter(path, encoding: configuration.outputEncoding)
    }

    /// Empties the ring. Hands what is worth telling to `events`.
    mutating func drain(events: (DeviceEvent) -> Void) {
        writeAll(events)
        let (late, lost) = progress.takeCounts()
        if late > 0 { events(.inputLate(frames: late)) }
        if lost > 0 { events(.outputLost(frames: lost)) }
        if progress.hasInput, progress.hasInputEnded, !hasToldEnd {
            hasToldEnd = true
            events(.endOfInput)
        }
    }

    /// Writes what is left and completes the file.
    mutating func finish(events: (DeviceEvent) -> Void) {
        drain(events: events)
        let missing = progress.soundedFrames - position
        if missing > 0 { writeSilence(missing, events) }
        guard let writer = writer.take() else { return }
        do { try writer.close() } catch { fail(error, events) }
    }

    private mutating func writeAll(_ events: (DeviceEvent) -> Void) {
        while true {
            // Frames first and gaps second: a gap is told before the frames that follow it.
            let available = ring.available
            guard available > 0 else { return }
            if nextGap == nil { nextGap = gaps.pop() }
            if let gap = nextGap, gap.position == taken {
                nextGap = nil
                writeSilence(gap.frames, events)
                continue
            }
            let count = min(available, Self.blockFrames, nextGap.map { $0.position - taken } ?? Self.blockFrames)
            do { try Self.move(count, from: &ring, to: &writer) } catch { giveUp(error, events) }
            taken += count
            position += count
        }
    }

    /// Without a writer, as after an error, the sound is let go.
    private static func move(
        _ count: Int, from ring: inout FrameConsumer, to writer: inout AudioFileWriter?
    ) throws(AudioFileError) {
        let block = ring.acquire(count)
        do { try writer?.write(block.span) } catch {
            ring.release(count)
            throw error
        }
        ring.release(count)
    }

    /// Where nothing was given, so that what follows stands at its time.
    private mutating func writeSilence(_ frames: Int, _ events: (DeviceEvent) -> Void) {
        let silence = [Float](repeating: 0, count: min(frames, Self.blockFrames))
        var left = frames
        while left > 0, writer != nil {
            let count = min(left, silence.count)
            do { try writer?.write(silence.span.extracting(first: count)) } catch { giveUp(error, events) }
            left -= count
        }
        position += frames
    }

    private mutating func giveUp(_ error: AudioFileError, _ events: (DeviceEvent) -> Void) {
        writer = nil
        fail(error, events)
    }

    private mutating func fail(_ error: AudioFileError, _ events: (DeviceEvent) -> Void) {
        if failure == nil { failure = error }
        events(.failed(.playback, .file(error)))
    }
}
