// For stat: optimised builds of this module know it as ALSA's headers have it.
internal import CALSA
internal import CSndFile
internal import Synchronization
internal import VoiceRealtime

#if canImport(Glibc)
    internal import Glibc
#endif

/// An open sound file of libsndfile's, with its errors sorted.
@safe
struct AudioFileHandle: ~Copyable, @unchecked Sendable {
    let path: String
    let sampleRate: Int
    let channels: Int
    /// As many as the file says it has; nil where that is not known.
    let declaredFrames: Int?
    let seekable: Bool
    let file: OpaquePointer
    /// What is read, where that is in memory.
    private let memory: MemoryFile?

    init(reading path: String) throws(AudioFileError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.cannotOpen(path, errno, writing: false) }
        var info = SF_INFO()
        let (opened, reason) = unsafe Self.make(of: descriptor, SFM_READ, &info)
        guard let file = unsafe opened else { throw .notAudio(path: path, reason: reason) }
        try unsafe self.init(file, info, path: path, memory: nil)
    }

    /// Sound from elsewhere: of one of the kinds that are expected, and all there.
    init(reading sound: EncodedSound) throws(AudioFileError) {
        switch sound {
        case .file(let path):
            let descriptor = try Self.openRegular(path)
            let container = SoundContainer { place, count in
                var bytes = [UInt8](repeating: 0, count: count)
                let read = unsafe pread(descriptor, &bytes, count, place)
                return Array(bytes.prefix(max(read, 0)))
            }
            guard container != nil else {
                _ = Glibc.close(descriptor)
                throw .notAudio(path: path, reason: Self.unknownKind)
            }
            var info = SF_INFO()
            let (opened, reason) = unsafe Self.make(of: descriptor, SFM_READ, &info)
            guard let file = unsafe opened else { throw .notAudio(path: path, reason: reason) }
            try unsafe self.init(file, info, path: path, memory: nil)
        case .bytes(let bytes):
            guard SoundContainer({ place, count in Array(bytes.dropFirst(place).prefix(count)) }) != nil else {
                throw .notAudio(path: sound.name, reason: Self.unknownKind)
            }
            let memory = MemoryFile(bytes)
            var info = SF_INFO()
            let (opened, reason) = unsafe Self.make(of: memory, &info)
            guard let file = unsafe opened else { throw .notAudio(path: sound.name, reason: reason) }
            try unsafe self.init(file, info, path: sound.name, memory: memory)
        }
    }

    private static let unknownKind = "it is neither WAV, FLAC, Ogg nor MP3"

    /// An opened file, which is closed with this, or where it is refused.
    private init(
        _ file: OpaquePointer, _ info: SF_INFO, path: String, memory: MemoryFile?
    ) throws(AudioFileError) {
        guard info.samplerate > 0, info.channels > 0 else {
            unsafe sf_close(file)
            throw .notAudio(path: path, reason: "it has no channels or no sample rate")
        }
        guard AudioFile.sampleRates.contains(Int(info.samplerate)) else {
            unsafe sf_close(file)
            throw .unsupportedRate(path: path, sampleRate: Int(info.samplerate))
        }
        guard info.channels <= Int32(AudioFile.maximumChannels) else {
            unsafe sf_close(file)
            throw .tooManyChannels(path: path, channels: Int(info.channels))
        }
        self.path = path
        sampleRate = Int(info.samplerate)
        channels = Int(info.channels)
        declaredFrames = info.frames >= 0 && info.frames < Int64.max ? Int(info.frames) : nil
        seekable = info.seekable != 0
        unsafe self.file = file
        self.memory = memory
    }

    /// A new mono WAV file in place of whatever was there.
    init(writing path: String, sampleRate: Int, encoding: AudioFileEncoding) throws(AudioFileError) {
        guard AudioFile.sampleRates.contains(sampleRate) else {
            throw .unsupportedRate(path: path, sampleRate: sampleRate)
        }
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw Self.cannotOpen(path, errno, writing: true) }
        let subtype = encoding == .int16 ? SF_FORMAT_PCM_16 : SF_FORMAT_FLOAT
        var info = SF_INFO()
        info.samplerate = Int32(sampleRate)
        info.channels = 1
        info.format = Int32(SF_FORMAT_WAV) | Int32(subtype)
        let (opened, reason) = unsafe Self.make(of: descriptor, SFM_WRITE, &info)
        guard let file = unsafe opened else { throw Self.cannotWrite(path, reason) }
        self.path = path
        self.sampleRate = sampleRate
        channels = 1
        declaredFrames = nil
        seekable = info.seekable != 0
        unsafe self.file = file
        memory = nil
        // So that what was written is there to be read even if the process is killed before it can close the file.
        unsafe sf_command(file, Int32(SFC_SET_UPDATE_HEADER_AUTO), nil, Int32(SF_TRUE))
    }

    /// Throws where a file that is there cannot be written, or its folder takes no new one.
    static func checkWritable(_ path: String) throws(AudioFileError) {
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor < 0 else {
            _ = Glibc.close(descriptor)
            return
        }
        guard errno == ENOENT else { throw cannotOpen(path, errno, writing: true) }
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(path[...$0]) } ?? "."
        guard unsafe access(folder, W_OK | X_OK) == 0 else { throw cannotOpen(path, errno, writing: true) }
    }

    deinit { _ = withExtendedLifetime(memory) { unsafe sf_close(file) } }

    private static let opening = Mutex(())

    /// A file of a descriptor, which is closed with it; or nil, and why.
    private static func make(of descriptor: Int32, _ mode: Int, _ info: inout SF_INFO) -> (OpaquePointer?, String) {
        // Libsndfile keeps the reason in one place for the whole process, where the next refusal overwrites it.
        unsafe opening.withLock { _ in
            let file = unsafe sf_open_fd(descriptor, Int32(mode), &info, 1)
            return unsafe (file, file == nil ? String(cString: sf_strerror(nil)) : "")
        }
    }

    /// The same of a file in memory, which must outlive it.
    private static func make(of memory: MemoryFile, _ info: inout SF_INFO) -> (OpaquePointer?, String) {
        unsafe opening.withLock { _ in
            var callbacks = MemoryFile.callbacks
            let address = unsafe Unmanaged.passUnretained(memory).toOpaque()
            let file = unsafe sf_open_virtual(&callbacks, Int32(SFM_READ), &info, address)
            return unsafe (file, file == nil ? String(cString: sf_strerror(nil)) : "")
        }
    }

    /// A descriptor of what is neither a folder nor a pipe or device, on which reading may wait without end.
    private static func openRegular(_ path: String) throws(AudioFileError) -> Int32 {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw cannotOpen(path, errno, writing: false) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            _ = Glibc.close(descriptor)
            throw .notAudio(path: path, reason: "it is no regular file")
        }
        return descriptor
    }

    /// What libsndfile last had to complain about.
    var reason: String { unsafe String(cString: sf_strerror(file)) }

    var hasError: Bool { unsafe sf_error(file) != 0 }

    var cannotWrite: AudioFileError { Self.cannotWrite(path, reason) }

    /// Writes the header once more, with the length in it, and closes.
    consuming func close() throws(AudioFileError) {
        // Not by sf_close, which reports the errors of the header's last update to nobody.
        unsafe sf_command(file, Int32(SFC_UPDATE_HEADER_NOW), nil, 0)
        unsafe sf_write_sync(file)
        if hasError { throw cannotWrite }
    }

    private static func cannotOpen(_ path: String, _ errno: Int32, writing: Bool) -> AudioFileError {
        switch errno {
        case EACCES, EPERM, EROFS: .permissionDenied(path: path)
        case ENOSPC, EDQUOT: .diskFull(path: path)
        case ENOENT where !writing, ENOTDIR where !writing: .missing(path: path)
        default:
            writing
                ? .unwritable(path: path, reason: systemReason(errno))
                : .unreadable(path: path, reason: systemReason(errno))
        }
    }

    private static func cannotWrite(_ path: String, _ reason: String) -> AudioFileError {
        // Libsndfile hands the system's reason on in words only.
        for full in [ENOSPC, EDQUOT] where unsafe strstr(reason, strerror(full)) != nil {
            return .diskFull(path: path)
        }
        return .unwritable(path: path, reason: reason)
    }
}
