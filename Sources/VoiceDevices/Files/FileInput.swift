internal import VoiceRealtime

/// Moves sound from the input file of a device to its ring, ahead of the microphone. For one thread at a time; blocks
/// on the disk, and on a pipe for as long as nothing comes.
struct FileInput: ~Copyable {
    /// The error of the file; from then on it is left alone.
    private(set) var failure: AudioFileError?
    private var reader: AudioFileReader?
    private var ring: FrameProducer
    private let afterInput: FileDeviceConfiguration.AfterInput
    private let progress: FileProgress
    /// A tenth of a second: what is moved at a time.
    private static let blockFrames = 4_800

    init(
        _ configuration: FileDeviceConfiguration, ring: consuming FrameProducer, progress: FileProgress
    ) throws(AudioFileError) {
        let reader = try Self.reader(configuration)
        self.init(reader, ring, configuration.afterInput, progress)
    }

    private init(
        _ reader: consuming AudioFileReader?, _ ring: consuming FrameProducer,
        _ afterInput: FileDeviceConfiguration.AfterInput, _ progress: FileProgress
    ) {
        self.reader = reader
        self.ring = ring
        self.afterInput = afterInput
        self.progress = progress
    }

    private static func reader(_ configuration: FileDeviceConfiguration) throws(AudioFileError) -> AudioFileReader? {
        guard let path = configuration.input else { return nil }
        return try AudioFileReader(path, channels: configuration.inputChannels)
    }

    /// Fills the ring, unless it is stopped between two blocks: a pipe that brings sound as it is spoken never fills
    /// it. Hands what is worth telling to `events`.
    mutating func fill(isStopped: () -> Bool = { false }, events: (DeviceEvent) -> Void) {
        // A file without a single frame would otherwise be begun again for ever.
        var emptyRounds = 0
        while !progress.isWholeInputThere, emptyRounds < 2, !isStopped() {
            do {
                let (read, wanted) = try Self.move(from: &reader, to: &ring)
                if wanted == 0 { return }
                emptyRounds = read == 0 ? emptyRounds + 1 : 0
                if read < wanted, !beginAgain() || emptyRounds == 2 { progress.completeInput() }
            } catch {
                progress.completeInput()
                failure = error
                events(.failed(.capture, .file(error)))
            }
        }
    }

    /// As much as the ring has room for, and at most a tenth of a second.
    private static func move(
        from reader: inout AudioFileReader?, to ring: inout FrameProducer
    ) throws(AudioFileError) -> (read: Int, wanted: Int) {
        var room = ring.acquire(blockFrames)
        let wanted = room.count
        guard wanted > 0 else { return (0, 0) }
        let read = try reader?.read(into: &room) ?? 0
        ring.commit(read, time: MonotonicTime(nanoseconds: 0))
        return (read, wanted)
    }

    private mutating func beginAgain() -> Bool {
        guard afterInput == .loop, reader?.canRewind ?? false else { return false }
        reader?.rewind()
        return true
    }
}
