internal import VoiceRealtime

/// Writes values as bytes, or reads them back: one description of a value's form serves both.
struct RecordCoder {
    /// What was written, or is read.
    private(set) var bytes: [UInt8]
    private var offset = 0
    private let isReading: Bool

    /// A writer.
    init() {
        bytes = []
        isReading = false
    }

    /// A reader of these bytes.
    init(reading bytes: [UInt8]) {
        self.bytes = bytes
        isReading = true
    }

    /// Whether all is read.
    var isAtEnd: Bool { offset == bytes.count }

    mutating func code<Value: FixedWidthInteger>(_ value: inout Value) throws(RecordingFault) {
        let size = MemoryLayout<Value>.size
        guard isReading else {
            var rest = value
            for _ in 0..<size {
                bytes.append(UInt8(truncatingIfNeeded: rest))
                rest >>= 8
            }
            return
        }
        guard bytes.count - offset >= size else { throw .malformed("a value is cut off") }
        var read: Value = 0
        for index in 0..<size { read |= Value(truncatingIfNeeded: UInt64(bytes[offset + index])) << Value(8 * index) }
        offset += size
        value = read
    }

    /// Of a byte there is nothing to shift.
    mutating func code(_ value: inout UInt8) throws(RecordingFault) {
        guard isReading else { return bytes.append(value) }
        guard offset < bytes.count else { throw .malformed("a value is cut off") }
        value = bytes[offset]
        offset += 1
    }

    mutating func code(_ value: inout Int8) throws(RecordingFault) {
        var byte = UInt8(bitPattern: value)
        try code(&byte)
        value = Int8(bitPattern: byte)
    }

    mutating func code(_ value: inout Bool) throws(RecordingFault) {
        var byte: UInt8 = value ? 1 : 0
        try code(&byte)
        guard byte < 2 else { throw .malformed("\(byte) is neither true nor false") }
        value = byte == 1
    }

    mutating func code(_ value: inout Float) throws(RecordingFault) {
        var bits = value.bitPattern
        try code(&bits)
        value = Float(bitPattern: bits)
        guard value.isFinite else { throw .malformed("a setting is no number") }
    }

    mutating func code(_ value: inout Double) throws(RecordingFault) {
        var bits = value.bitPattern
        try code(&bits)
        value = Double(bitPattern: bits)
        guard value.isFinite else { throw .malformed("a setting is no number") }
    }

    /// Within ±100 days, to the attosecond.
    mutating func code(_ value: inout Duration) throws(RecordingFault) {
        var (seconds, attoseconds) = value.components
        try code(&seconds)
        try code(&attoseconds)
        guard seconds.magnitude < 100 * 86_400, attoseconds.magnitude < 1_000_000_000_000_000_000 else {
            throw .malformed("a duration is out of range")
        }
        value = Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }

    /// One of the cases of an enumeration, by its place among them.
    mutating func code<Choice: CaseIterable & Equatable>(choice value: inout Choice) throws(RecordingFault) {
        let cases = Array(Choice.allCases)
        var place = UInt8(cases.firstIndex(of: value) ?? 0)
        try code(&place)
        guard cases.indices.contains(Int(place)) else { throw .malformed("\(place) is no case of \(Choice.self)") }
        value = cases[Int(place)]
    }

    /// Up to 255 bytes.
    mutating func code(_ value: inout String) throws(RecordingFault) {
        let text = Array(value.utf8.prefix(255))
        var length = UInt8(text.count)
        try code(&length)
        guard isReading else { return bytes.append(contentsOf: text) }
        guard bytes.count - offset >= Int(length) else { throw .malformed("a text is cut off") }
        value = String(decoding: bytes[offset..<offset + Int(length)], as: UTF8.self)
        offset += Int(length)
    }
}

/// Why a recording cannot be run again, or no further.
package enum RecordingFault: Error, Equatable, CustomStringConvertible {
    /// There is no such file, or it may not be read (`errno`).
    case unreadable(path: String, errno: Int32)
    /// The file is something else.
    case notARecording(path: String)
    /// A later version of the engine made it.
    case newer(path: String, version: UInt32)
    /// An earlier version of the engine made it.
    case older(path: String, version: UInt32)
    /// The file ends in the middle of something.
    case truncated(path: String, offset: Int)
    /// Something there is not what was written, or cannot have been.
    case damaged(path: String, offset: Int, what: String)
    /// The same, where the place is not known yet.
    case malformed(String)
    /// It has no sound, so there is nothing to process again.
    case withoutSound
    /// What it was made with is not here.
    case unsupported(String)
    /// Its kernels are for another processor, and round differently.
    case lacksKernels(recorded: String, here: String)

    package var description: String {
        switch self {
        case .unreadable(let path, let errno):
            "'\(path)' cannot be read: \(systemReason(errno)); name the folder that --record made"
        case .notARecording(let path): "'\(path)' is no recording of this engine; name the folder that --record made"
        case .newer(let path, let version):
            "'\(path)' is of format \(version), and this version reads format \(RecordingFormat.version); use the version that made it, or a later one"
        case .older(let path, let version):
            "'\(path)' is of format \(version), and this version reads format \(RecordingFormat.version) alone; use the version that made it"
        case .truncated(let path, let offset):
            "'\(path)' ends too early, behind byte \(offset): its engine was killed, or it was not copied whole; what lies before could be run"
        case .damaged(let path, let offset, let what):
            "'\(path)' is damaged at byte \(offset): \(what); copy it again from where it was made"
        case .malformed(let what): "the recording is damaged: \(what)"
        case .withoutSound:
            "the recording has no sound, so that no stage can be run again; its decisions can be listed, and sound is recorded with --record-sound"
        case .unsupported(let what): "\(what)"
        case .lacksKernels(let recorded, let here):
            "it was recorded with kernels for \(recorded), which this processor lacks (it runs those for \(here)) and which round differently; replay it on a processor that has them, or compare all the same with --any-kernels"
        }
    }
}
