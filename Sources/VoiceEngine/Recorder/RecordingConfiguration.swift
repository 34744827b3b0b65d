/// A flight recorder for one start of the engine: what is needed to run its media thread again, bit for bit.
///
/// The folder holds one file: every packet that came in, with its time, what the devices captured and played, the
/// commands and settings, and the clock's readings. Not in it: keys, tokens, the room's address, names of people and of
/// devices; participants are numbers. `duplex replay` reads it.
///
/// It begins with ``VoiceEngine/start()``, since nothing but the whole past of a canceller and a jitter buffer brings
/// them to where they are, and ends with ``VoiceEngine/stop()`` or at ``maximumBytes``, whichever is first. Sound takes
/// some 24 MB a minute.
public struct RecordingConfiguration: Sendable {
    /// Where the folder is made; it must not exist yet.
    public var folder: String
    /// Whether what is said is recorded. Without it there are packets' headers, decisions and times alone, and nothing
    /// can be run again.
    public var includesSound: Bool
    /// How much is written at most, in bytes. What would go beyond is left out, and the recording says so.
    public var maximumBytes: Int
    /// Where it is written to, in place of a file in ``folder``.
    package var store: (any RecordingStore)?

    /// The bounds of ``maximumBytes``: below the lower one not even the settings fit.
    package static let sizes = 65_536...(1 << 40)

    /// 1 GiB, some 40 minutes with sound, unless given otherwise.
    public init(folder: String, includesSound: Bool = false, maximumBytes: Int = 1 << 30) {
        self.folder = folder
        self.includesSound = includesSound
        self.maximumBytes = maximumBytes
    }

    func validate() throws(EngineError) {
        guard !folder.isEmpty || store != nil else {
            throw .invalidConfiguration("the recording's folder has no name; give it one")
        }
        guard Self.sizes.contains(maximumBytes) else {
            throw .invalidConfiguration("the recording's maximumBytes is \(maximumBytes); use \(Self.sizes)")
        }
    }
}

/// What has become of a recording.
public struct RecordingStatus: Equatable, Sendable {
    /// Why a recording ended before the engine did.
    public enum End: Equatable, Sendable {
        /// ``RecordingConfiguration/maximumBytes`` are written.
        case full
        /// The file could not be written (`errno`): no space is left, say.
        case unwritable(errno: Int32)
    }

    /// Bytes written so far.
    public var bytes = 0
    /// Runs of the media thread that are missing because the writer was late; behind the first of them nothing can be
    /// run again.
    public var lostRuns = 0
    /// Why nothing more is written; nil while something is.
    public var end: End?

    /// Nothing yet.
    package init() {}
}

/// Where a recording is written to. Called by one thread at a time, which it may hold up.
package protocol RecordingStore: Sendable {
    /// Appends bytes; throws the system's `errno`.
    func append(_ bytes: Span<UInt8>) throws(RecordingStoreError)
    /// Nothing more comes.
    func close()
}

/// What the system said.
package struct RecordingStoreError: Error {
    package var errno: Int32

    package init(errno: Int32) { self.errno = errno }
}
