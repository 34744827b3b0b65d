internal import VoiceRealtime

/// Moves sound between the files of a device and its rings, ahead of the microphone and behind the loudspeaker. For one
/// thread at a time; blocks on the disk.
struct FileTransfer: ~Copyable {
    /// The first error of either file; from then on that file is left alone.
    private(set) var failure: AudioFileError?
    private var reader: AudioFileReader?
    private var writer: AudioFileWriter?
    private var input: FrameProducer
    private var output: FrameConsumer
    private var gaps: ValueConsumer<OutputGap>
    private var nextGap: OutputGap?
    /// Frames taken out of the output ring, and frames that are in the file or would be.
    private var taken = 0
    private var position = 0
    private let afterInput: FileDeviceConfiguration.AfterInput
    private let progress: FileProgress
    private var hasToldEnd = false
    /// A tenth of a second: what is moved at a time.
    private static let blockFrames = 4_800

    init(
        _ configuration: FileDeviceConfiguration, input: consuming FrameProducer, output: consuming FrameConsumer,
        gaps: consuming ValueConsumer<OutputGap>, progress: FileProgress
    ) throws(AudioFileError) {
        let reader = try Self.reader(configuration)
        let writer = try Self.writer(configuration)
        self.init(reader, writer, input, output, gaps, configuration.afterInput, progress)
    }

    private init(
        _ reader: consuming AudioFileReader?, _ writer: consuming AudioFileWriter?, _ input: consuming FrameProducer,
        _ output: consuming FrameConsumer, _ gaps: consuming ValueConsumer<OutputGap>,
        _ afterInput: FileDeviceConfiguration.AfterInput, _ progress: FileProgress
    ) {
        self.reader = reader
        self.writer = writer
        self.input = input
        self.output = output
        self.gaps = gaps
        self.afterInput = afterInput
        self.progress = progress
    }

    private static func reader(_ configuration: FileDeviceConfiguration) throws(AudioFileError) -> AudioFileReader? {
        guard let path = configuration.input else { return nil }
        return try AudioFileReader(path, channels: configuration.inputChannels)
    }

    private static func writer(_ configuration: FileDeviceConfiguration) throws(AudioFileError) -> AudioFileWriter? {
        guard let path = configuration.output else { return nil }
        return try AudioFileWriter(path, encoding: configuration.outputEncoding)
    }

    /// Fills the input ring and empties the output ring. Hands what is worth telling to `events`.
    mutating func run(events: (DeviceEvent) -> Void) {
        fill(events: events)
        drain(events: events)
        let (late, lost) = progress.takeCounts()
        if late > 0 { events(.inputLate(frames: late)) }
        if lost > 0 { events(.outputLost(frames: lost)) }
        if progress.hasInputEnded, reader != nil, !hasToldEnd {
            hasToldEnd = true
            events(.endOfInput)
        }
    }

    /// Writes what is left and completes the output file.
    mutating func finish(events: (DeviceEvent) -> Void) {
        run(events: events)
        let missing = progress.soundedFrames - position
        if missing > 0 { writeSilence(missing, events) }
        guard let writer = writer.take() else { return }
        do { try writer.close() } catch { fail(error, .playback, events) }
    }

    private mutating func fill(events: (DeviceEvent) -> Void) {
        // A file without a single frame would otherwise be begun again for ever.
        var emptyRounds = 0
        while !progress.isWholeInputThere, emptyRounds < 2 {
            do {
                let (read, wanted) = try Self.move(from: &reader, to: &input)
                if wanted == 0 { return }
                emptyRounds = read == 0 ? emptyRounds + 1 : 0
                if read < wanted, !beginAgain() || emptyRounds == 2 { progress.completeInput() }
            } catch {
                progress.completeInput()
                fail(error, .capture, events)
            }
        }
    }

    /// As much as the ring has room for, and at most a tenth of a second.
    private static func move(
        from reader: inout AudioFileReader?, to input: inout FrameProducer
    ) throws(AudioFileError) -> (read: Int, wanted: Int) {
        var room = input.acquire(blockFrames)
        let wanted = room.count
        guard wanted > 0 else { return (0, 0) }
        let read = try reader?.read(into: &room) ?? 0
        input.commit(read, time: MonotonicTime(nanoseconds: 0))
        return (read, wanted)
    }

    private mutating func beginAgain() -> Bool {
        guard afterInput == .loop, reader?.canRewind ?? false else { return false }
        reader?.rewind()
        return true
    }

    private mutating func drain(events: (DeviceEvent) -> Void) {
        while true {
            // Frames first and gaps second: a gap is told before the frames that follow it.
            let available = output.available
            guard available > 0 else { return }
            if nextGap == nil { nextGap = gaps.pop() }
            if let gap = nextGap, gap.position == taken {
                nextGap = nil
                writeSilence(gap.frames, events)
                continue
            }
            let count = min(available, Self.blockFrames, nextGap.map { $0.position - taken } ?? Self.blockFrames)
            do { try Self.move(count, from: &output, to: &writer) } catch { failOutput(error, events) }
            taken += count
            position += count
        }
    }

    /// Without a writer, as after an error, the sound is let go.
    private static func move(
        _ count: Int, from output: inout FrameConsumer, to writer: inout AudioFileWriter?
    ) throws(AudioFileError) {
        let block = output.acquire(count)
        do { try writer?.write(block.span) } catch {
            output.release(count)
            throw error
        }
        output.release(count)
    }

    /// Where nothing was given, so that what follows stands at its time.
    private mutating func writeSilence(_ frames: Int, _ events: (DeviceEvent) -> Void) {
        let silence = [Float](repeating: 0, count: min(frames, Self.blockFrames))
        var left = frames
        while left > 0, writer != nil {
            let count = min(left, silence.count)
            do { try writer?.write(silence.span.extracting(first: count)) } catch { failOutput(error, events) }
            left -= count
        }
        position += frames
    }

    private mutating func failOutput(_ error: AudioFileError, _ events: (DeviceEvent) -> Void) {
        writer = nil
        fail(error, .playback, events)
    }

    private mutating func fail(_ error: AudioFileError, _ direction: DeviceDirection, _ events: (DeviceEvent) -> Void) {
        if failure == nil { failure = error }
        events(.failed(direction, .file(error)))
    }
}
