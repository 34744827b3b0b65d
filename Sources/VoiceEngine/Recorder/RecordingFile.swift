internal import VoiceRealtime

#if canImport(Glibc)
    internal import Glibc
#endif

/// The file of a recording.
///
///     header:  "DVREC\r\n\0"  version  length of the settings   settings  checksum
///     chunk:   "DVCK"  length  number  checksum  pieces of whole runs
///     ...
///
/// Numbers are little-endian, 4 bytes but for checksums and chunk numbers, which have 8.
enum RecordingFormat {
    static let fileName = "recording.dvr"
    /// As PNG has it: a transfer as text shows.
    static let magic: [UInt8] = Array("DVREC\r\n".utf8) + [0]
    static let chunkMagic: UInt32 = 0x4B43_5644
    /// Raised with every change of what is written, new commands and settings included: `RecordingFormatTests` holds the
    /// form of each. A reader reads this version alone. docs/recording.md has the versions.
    static let version: UInt32 = 4
    /// No chunk is longer: what the ring holds, what a writer gathers before, and what commands gain when they are
    /// written out.
    static let longestChunk = 8 << 20
    /// No settings are longer.
    static let longestSettings = 4_096
    static let chunkHeaderBytes = 24

    /// Finds accidents, not forgeries.
    static func checksum(_ bytes: Span<UInt8>, number: UInt64) -> UInt64 {
        var digest = StageDigest(Stage(code: number))
        digest.hash ^= number
        unsafe digest.take(bytes.bytes)
        return digest.hash
    }
}

/// A recording in a file of its own folder, readable by its owner alone.
final class RecordingFile: RecordingStore {
    private let descriptor: Int32

    /// Makes the folder and the file.
    init(folder: String) throws(EngineError) {
        guard unsafe mkdir(folder, 0o700) == 0 else {
            let number = errno
            if number == EEXIST {
                throw .invalidConfiguration("the folder '\(folder)' for the recording exists already; name a new one")
            }
            throw .resourcesExhausted(
                "the folder '\(folder)' for the recording cannot be made: \(systemReason(number)); name another")
        }
        let path = "\(folder)/\(RecordingFormat.fileName)"
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw .resourcesExhausted("'\(path)' cannot be written: \(systemReason(errno)); name another folder")
        }
    }

    deinit { Glibc.close(descriptor) }

    func append(_ bytes: Span<UInt8>) throws(RecordingStoreError) {
        var done = 0
        while done < bytes.count {
            let written = unsafe bytes.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return 0 }
                return unsafe write(descriptor, base + done, bytes.count - done)
            }
            if written < 0 {
                if errno == EINTR { continue }
                throw RecordingStoreError(errno: errno)
            }
            done += written
        }
    }

    func close() { fdatasync(descriptor) }
}
