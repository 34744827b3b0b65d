internal import CSndFile
internal import VoiceSignal

/// Writes a mono WAV file. For one thread at a time; blocks on the disk.
///
/// Only ``close()`` tells whether everything, the header's length included, has reached the file; without it the file
/// is closed all the same, and errors go unseen. A WAV file's sizes end at 4 GiB, 12.4 h of 16 bits at 48 kHz: what
/// would go beyond is refused, and what is before stays.
package struct AudioFileWriter: ~Copyable, Sendable {
    /// How samples are written.
    package let encoding: AudioFileEncoding
    /// Frames written so far.
    package private(set) var frames = 0
    private let handle: AudioFileHandle
    private var integers: [Int16] = []
    private let longest: Int

    /// Bytes of sound that a header's 32 bits can state beside its own; libsndfile would write on and wrap them.
    private static let limit = 0xFFFF_FFFF - 4_096

    /// Throws where it is plain beforehand that `path` cannot be written; writes nothing, and leaves what is there.
    package static func check(_ path: String) throws(AudioFileError) { try AudioFileHandle.checkWritable(path) }

    /// Makes a new file at `path`, in place of whatever was there, for samples of `sampleRate` Hz.
    package init(
        _ path: String, sampleRate: Int = 48_000, encoding: AudioFileEncoding = .int16
    ) throws(AudioFileError) {
        try self.init(path, sampleRate: sampleRate, encoding: encoding, limit: Self.limit)
    }

    /// The same with another limit, bytes.
    init(_ path: String, sampleRate: Int, encoding: AudioFileEncoding, limit: Int) throws(AudioFileError) {
        handle = try AudioFileHandle(writing: path, sampleRate: sampleRate, encoding: encoding)
        self.encoding = encoding
        longest = limit / (encoding == .int16 ? 2 : 4)
    }

    /// Appends `samples`; as integers they are rounded to nearest and limited to full scale.
    package mutating func write(_ samples: Span<Float>) throws(AudioFileError) {
        guard !samples.isEmpty else { return }
        guard frames + samples.count <= longest else {
            throw .unwritable(path: handle.path, reason: "a WAV file holds no more than 4 GiB")
        }
        let file = unsafe handle.file
        let wanted = sf_count_t(samples.count)
        let written: sf_count_t
        switch encoding {
        case .float32:
            written = unsafe samples.withUnsafeBufferPointer { unsafe sf_writef_float(file, $0.baseAddress, wanted) }
        case .int16:
            integers.removeAll(keepingCapacity: true)
            for index in samples.indices { integers.append(Int16(fullScale: samples[index])) }
            written = unsafe integers.withUnsafeBufferPointer { unsafe sf_writef_short(file, $0.baseAddress, wanted) }
        }
        frames += max(Int(written), 0)
        guard written == wanted else { throw handle.cannotWrite }
    }

    /// Completes the header and closes the file.
    package consuming func close() throws(AudioFileError) { try handle.close() }
}
