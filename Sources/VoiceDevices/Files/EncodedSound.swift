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

    /// How many of a file's first bytes tell.
    static let signatureBytes = 12

    /// What begins with these bytes; nil for anything else.
    init?(signature: [UInt8]) {
        func holds(_ text: String, at place: Int = 0) -> Bool {
            signature.dropFirst(place).starts(with: text.utf8)
        }
        if holds("RIFF") || holds("RF64"), holds("WAVE", at: 8) {
            self = .wav
        } else if holds("fLaC") {
            self = .flac
        } else if holds("OggS") {
            self = .ogg
        } else if holds("ID3") || Self.isFrameOfMP3(signature) {
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
