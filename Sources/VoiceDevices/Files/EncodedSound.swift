/// Sound as a file has it: WAV, FLAC, Ogg (Opus, Vorbis or FLAC) or MP3, as far as the system's libsndfile decodes it.
///
/// What it is is told from its first bytes, before a decoder sees it, and not from its name.
public enum EncodedSound: Equatable, Sendable {
    /// The regular file at this path.
    case file(String)
    /// A whole file in memory, as a speech service returns it.
    case bytes([UInt8])

    /// How it is called in an error.
    var name: String {
        switch self {
        case .file(let path): path
        case .bytes(let bytes): "\(bytes.count) bytes in memory"
        }
    }
}

/// The kinds of file that sound from elsewhere may come in. Libsndfile knows many more, old ones, whose parsers nobody
/// needs here.
enum SoundContainer: Equatable {
    case wav, flac, ogg, mp3

    /// How many bytes tell.
    private static let signatureBytes = 12
    /// Tags before the sound that are passed over.
    private static let mostTags = 4

    /// What a file is, of which `read` gives so many bytes from a place on, or fewer at its end; nil for anything else.
    ///
    /// Behind a tag (ID3v2), too: there libsndfile takes whatever it knows.
    init?(_ read: (_ place: Int, _ count: Int) -> [UInt8]) {
        var place = 0
        for _ in 0..<Self.mostTags {
            let tag = read(place, 10)
            guard tag.count == 10, tag.starts(with: "ID3".utf8) else { break }
            place += 10 + tag[6...].reduce(0) { $0 << 7 | Int($1 & 0x7F) }
        }
        self.init(signature: read(place, Self.signatureBytes))
    }

    private init?(signature: [UInt8]) {
        func holds(_ text: String, at place: Int = 0) -> Bool {
            signature.dropFirst(place).starts(with: text.utf8)
        }
        if holds("RIFF") || holds("RF64"), holds("WAVE", at: 8) {
            self = .wav
        } else if holds("fLaC") {
            self = .flac
        } else if holds("OggS") {
            self = .ogg
        } else if Self.isFrameOfMP3(signature) {
            self = .mp3
        } else {
            return nil
        }
    }

    /// Whether it begins with a frame of layer III (ISO 11172-3, section 2.4.1.3): eleven ones, version, layer.
    private static func isFrameOfMP3(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 2, bytes[0] == 0xFF, bytes[1] & 0xE0 == 0xE0 else { return false }
        let isReservedVersion = bytes[1] & 0x18 == 0x08
        return !isReservedVersion && bytes[1] & 0x06 == 0x02
    }
}
