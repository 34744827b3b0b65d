/// What bounds a text, and how its frames are laid out.
///
/// A frame edits the end of a text: it keeps a prefix of what the reader has and puts its bytes behind it. A text that
/// grows, one that is replaced, and one that is sent whole to a newcomer are the same to the reader. Integers are
/// big-endian.
///
///     0  flags: 1 final, 2 more frames complete this state of the text
///     1  length of the name
///     2  name of the stream, UTF-8
///     .  round (4)       counts the texts of the stream; a later one replaces an earlier one
///     .  sequence (4)    grows with every frame of the stream, whoever it is sent to
///     .  keep (4)        bytes of the reader's text that stay
///     .  check (4)       of the whole text, see ``PrefixCheck``; 0 where more follows
///     .  length of the extras (2), 0 where more follows
///     .  extras, UTF-8
///     .  bytes of the text, to the end
package enum TextFormat {
    /// Bytes of a text, at most.
    package static let textLimit = 65_536
    /// Bytes of a stream's name, at most.
    package static let nameLimit = 32
    /// Bytes of extras, at most.
    package static let extrasLimit = 512
    /// Streams of one writer that are kept, at most.
    package static let streamLimit = 8
    /// Writers of whom texts are kept, and readers who are sent one whole at a time: as many as a room holds.
    package static let memberLimit = 256
    /// Bytes of a frame, at most: what a room's message holds.
    package static let frameLimit = 1_024
    /// Bytes of a frame besides its name, extras and text.
    static let fixedBytes = 20
}

/// A text that cannot be sent.
public enum TextError: Error, Equatable, Sendable {
    /// The name is empty or longer than 32 bytes.
    case invalidName
    /// The text would have `bytes`; 65,536 are possible. Begin a new round, or send less.
    case textTooLong(bytes: Int)
    /// The extras have `bytes`; 512 are possible.
    case extrasTooLong(bytes: Int)
    /// There are eight streams already.
    case tooManyStreams
}

/// A state of a text stream, as its reader has it.
public struct TextUpdate: Equatable, Sendable {
    /// The stream's name.
    public let stream: String
    /// Which text of the stream it is, from 1; a later one replaces an earlier one.
    public let round: UInt32
    /// The whole text so far.
    public let text: String
    /// Whether it stays as it is.
    public let isFinal: Bool
    /// What the writer gave along with it, JSON by custom; empty where nothing was given.
    public let extras: String

    /// An update as it would come.
    package init(stream: String, round: UInt32, text: String, isFinal: Bool, extras: String) {
        self.stream = stream
        self.round = round
        self.text = text
        self.isFinal = isFinal
        self.extras = extras
    }
}
