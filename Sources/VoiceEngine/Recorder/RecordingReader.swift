#if canImport(Glibc)
    internal import Glibc
#endif

/// Reads a recording, a chunk at a time: whatever the file holds, no more than one chunk of it is in memory.
struct RecordingReader {
    /// A piece of the present chunk.
    struct Piece {
        let kind: RecordedPiece
        /// Where its bytes lie in ``bytes``.
        let range: Range<Int>
    }

    /// The file.
    let path: String
    /// What the recording was made with.
    let settings: RecordedSettings
    /// The present chunk.
    private(set) var bytes: [UInt8] = []
    private let file: OpenFile
    private var fileOffset = 0
    private var chunkStart = 0
    private var chunks: UInt64 = 0
    private var place = 0

    /// Opens the recording in a folder.
    init(folder: String) throws(RecordingFault) {
        let path = "\(folder)/\(RecordingFormat.fileName)"
        let file = OpenFile(path)
        guard file.isOpen else { throw .unreadable(path: path, errno: errno) }
        guard file.isRegular else { throw .notARecording(path: path) }
        var offset = 0
        settings = try Self.readHead(file, path, &offset)
        self.path = path
        self.file = file
        fileOffset = offset
    }

    /// An open file, closed when nobody has it any more.
    private final class OpenFile {
        private let descriptor: Int32

        init(_ path: String) {
            descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        }

        deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

        var isOpen: Bool { descriptor >= 0 }

        var isRegular: Bool {
            var status = stat()
            return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }

        /// Reads what comes next, from `offset` of `bytes` on; 0 at the end, negative where it fails.
        func read(into bytes: inout [UInt8], from offset: Int) -> Int {
            while true {
                let count = bytes.count - offset
                let got = unsafe bytes.withUnsafeMutableBytes { bytes in
                    guard let base = bytes.baseAddress else { return 0 }
                    return unsafe Glibc.read(descriptor, base + offset, count)
                }
                if got >= 0 || errno != EINTR { return got }
            }
        }
    }

    private static func readHead(
        _ file: OpenFile, _ path: String, _ offset: inout Int
    ) throws(RecordingFault) -> RecordedSettings {
        let head = try read(file, 16, path, &offset)
        guard Array(head[..<8]) == RecordingFormat.magic else { throw .notARecording(path: path) }
        let version = head.span.word(at: 8)
        guard version <= RecordingFormat.version else { throw .newer(path: path, version: version) }
        guard version == RecordingFormat.version || version == 0 else { throw .older(path: path, version: version) }
        let length = Int(head.span.word(at: 12))
        guard version > 0, length <= RecordingFormat.longestSettings else {
            throw .damaged(path: path, offset: 12, what: "format \(version) with settings of \(length) bytes")
        }
        let form = try read(file, length, path, &offset)
        let end = try read(file, 8, path, &offset)
        let sum = end.span.number(at: 0)
        guard UInt64(bitPattern: sum) == RecordingFormat.checksum(form.span, number: 0) else {
            throw .damaged(path: path, offset: 16, what: "the settings' checksum does not match")
        }
        var coder = RecordCoder(reading: form)
        var settings = RecordedSettings()
        do throws(RecordingFault) { try settings.code(with: &coder) } catch {
            throw .damaged(path: path, offset: 16, what: "\(error)")
        }
        return settings
    }

    /// Reads exactly so many bytes.
    private static func read(
        _ file: OpenFile, _ count: Int, _ path: String, _ offset: inout Int
    ) throws(RecordingFault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = file.read(into: &bytes, from: done)
            guard got >= 0 else { throw .unreadable(path: path, errno: errno) }
            guard got > 0 else { throw .truncated(path: path, offset: offset + done) }
            done += got
        }
        offset += count
        return bytes
    }

    /// The next piece; throws where there is none, since a whole recording ends with ``RecordedPiece/end``.
    mutating func next() throws(RecordingFault) -> Piece {
        while place == bytes.count { try readChunk() }
        guard bytes.count - place >= 8 else { throw damage("a piece is cut off") }
        let (code, length) = (bytes.span.word(at: place), Int(bytes.span.word(at: place + 4)))
        let body = place + 8
        let end = body + (length + 7) / 8 * 8
        guard let kind = RecordedPiece(rawValue: code) else {
            throw damage("\(code) is no kind of piece of format \(RecordingFormat.version)")
        }
        guard end <= bytes.count else { throw damage("a piece of \(length) bytes is cut off") }
        place = end
        return Piece(kind: kind, range: body..<body + length)
    }

    /// A fault at the present place.
    func damage(_ what: String) -> RecordingFault {
        .damaged(path: path, offset: chunkStart + RecordingFormat.chunkHeaderBytes + place, what: what)
    }

    private mutating func readChunk() throws(RecordingFault) {
        chunkStart = fileOffset
        bytes = []
        place = 0
        let head = try Self.read(file, RecordingFormat.chunkHeaderBytes, path, &fileOffset)
        let length = Int(head.span.word(at: 4))
        let number = UInt64(bitPattern: head.span.number(at: 8))
        guard head.span.word(at: 0) == RecordingFormat.chunkMagic, length <= RecordingFormat.longestChunk, length > 0
        else {
            throw .damaged(path: path, offset: chunkStart, what: "no chunk begins here")
        }
        guard number == chunks else {
            throw .damaged(path: path, offset: chunkStart, what: "chunk \(number) where \(chunks) was to come")
        }
        bytes = try Self.read(file, length, path, &fileOffset)
        guard UInt64(bitPattern: head.span.number(at: 16)) == RecordingFormat.checksum(bytes.span, number: chunks)
        else {
            throw .damaged(path: path, offset: chunkStart, what: "a chunk's checksum does not match")
        }
        chunks += 1
    }
}

extension Span<UInt8> {
    /// Four bytes, little-endian.
    func word(at offset: Int) -> UInt32 {
        var value: UInt32 = 0
        for index in 0..<4 { value |= UInt32(self[offset + index]) << UInt32(8 * index) }
        return value
    }

    /// Eight bytes, little-endian.
    func number(at offset: Int) -> Int64 {
        Int64(bitPattern: UInt64(word(at: offset)) | UInt64(word(at: offset + 4)) << 32)
    }
}
