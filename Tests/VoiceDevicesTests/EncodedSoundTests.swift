import CSndFile
import Glibc
import TestCases
import Testing

@testable import VoiceDevices

@Suite("Encoded sound from elsewhere")
struct EncodedSoundTests {
    /// How a test has libsndfile write one.
    struct Format: Sendable, CustomTestStringConvertible {
        let name: String
        let code: Int
        var rate = 48_000
        var channels = 1
        /// Frames of 48 kHz that a codec may add or keep at the ends.
        var slack = 0

        var testDescription: String { name }

        static let all = [
            Format(name: "16-bit WAV", code: SF_FORMAT_WAV | SF_FORMAT_PCM_16),
            Format(name: "float WAV of 44.1 kHz", code: SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate: 44_100, slack: 2),
            Format(name: "FLAC", code: SF_FORMAT_FLAC | SF_FORMAT_PCM_16, rate: 16_000, channels: 2, slack: 2),
            Format(name: "Vorbis", code: SF_FORMAT_OGG | SF_FORMAT_VORBIS, rate: 44_100, slack: 2_000),
            Format(name: "Opus", code: SF_FORMAT_OGG | SF_FORMAT_OPUS, slack: 2_000),
            Format(name: "MP3", code: SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, rate: 44_100, slack: 5_000),
        ]
    }

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A second of 440 Hz at half of full scale, in a file of this format; nil where this libsndfile does not write it.
    private func tone(_ format: Format) throws -> [UInt8]? {
        let path = folder.file("tone")
        var info = SF_INFO()
        info.samplerate = Int32(format.rate)
        info.channels = Int32(format.channels)
        info.format = Int32(format.code)
        guard unsafe sf_format_check(&info) == SF_TRUE else { return nil }
        let file = unsafe sf_open(path, Int32(SFM_WRITE), &info)
        guard let file = unsafe file else { return nil }
        let samples = (0..<format.rate * format.channels).map { index in
            0.5 * Float(sin(2 * .pi * 440 * Double(index / format.channels) / Double(format.rate)))
        }
        let written = unsafe sf_writef_float(file, samples, sf_count_t(format.rate))
        unsafe sf_close(file)
        try #require(written == sf_count_t(format.rate))
        return try folder.read("tone")
    }

    /// All of it at 48 kHz, as far as it goes; at most 60 s.
    private func decoded(_ sound: EncodedSound) throws(AudioFileError) -> [Float] {
        var reader = try AudioFileReader(sound)
        var samples: [Float] = []
        var block = [Float](repeating: 0, count: 4_800)
        while samples.count < 60 * 48_000 {
            var room = block.mutableSpan
            let count = try reader.read(into: &room)
            if count == 0 { break }
            samples += block[..<count]
        }
        return samples
    }

    @Test("is decoded the same from memory and from a file, whatever it is called", arguments: Format.all)
    func formats(format: Format) throws {
        guard let bytes = try tone(format) else {
            try #require(["Opus", "MP3"].contains(format.name), "every libsndfile writes it")
            try Test.cancel("this libsndfile does not write \(format.name)")
        }
        let samples = try decoded(.bytes(bytes))
        try folder.write(bytes, to: "no-suffix")
        #expect(try decoded(.file(folder.file("no-suffix"))) == samples)
        // Its length, and in the middle its tone
        #expect(abs(samples.count - 48_000) <= format.slack, "\(samples.count) frames")
        let middle = samples[12_000..<36_000]
        let power = middle.reduce(0) { $0 + $1 * $1 } / Float(middle.count)
        #expect(abs(power - 0.125) < 0.02)
        let crossings = zip(middle, middle.dropFirst()).count { $0 < 0 && $1 >= 0 }
        #expect((219...221).contains(crossings))
    }

    @Test("of no known kind is refused before a decoder sees it")
    func unknownKinds() throws {
        let others: [[UInt8]] = [
            [], [0], Array("RIFF".utf8), Array("RIFF....AVI ".utf8), Array("FORM....AIFF".utf8),
            Array("Creative Voice".utf8),
            // Behind a tag that says that it is as long as there is nothing, and behind more tags than anybody writes.
            Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 0] + Array("FORM....AIFF".utf8),
            Array("ID3".utf8) + [4, 0, 0, 0x7F, 0x7F, 0x7F, 0x7F],
            Array(repeating: Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 0], count: 5).flatMap(\.self) + [0xFF, 0xFB, 0, 0],
            [0xFF, 0xFF], Array("<html>not found</html>".utf8), [UInt8](repeating: 0, count: 1_000),
        ]
        for bytes in others {
            let error = fileError { () throws(AudioFileError) in _ = try AudioFileReader(.bytes(bytes)) }
            let name = "\(bytes.count) bytes in memory"
            #expect(error == .notAudio(path: name, reason: "it is neither WAV, FLAC, Ogg nor MP3"))
            try folder.write(bytes, to: "other")
            let inFile = fileError { () throws(AudioFileError) in
                _ = try AudioFileReader(.file(folder.file("other")))
            }
            #expect(inFile?.description.contains("neither WAV, FLAC, Ogg nor MP3") == true)
        }
    }

    @Test("a folder, a pipe and a device are refused, on which one could wait without end")
    func irregular() throws {
        let pipe = folder.file("pipe")
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        for path in [pipe, "/tmp", "/dev/zero"] {
            let error = fileError { () throws(AudioFileError) in _ = try AudioFileReader(.file(path)) }
            #expect(error == .notAudio(path: path, reason: "it is no regular file"))
        }
        let path = folder.file("nowhere")
        let missing = fileError { () throws(AudioFileError) in _ = try AudioFileReader(.file(path)) }
        #expect(missing == .missing(path: path))
        // A name that no file can have
        let endless = folder.file(String(repeating: "n", count: 300))
        let unreadable = fileError { () throws(AudioFileError) in _ = try AudioFileReader(.file(endless)) }
        guard case .unreadable(endless, _) = unreadable else {
            Issue.record("\(String(describing: unreadable))")
            return
        }
    }

    @Test("cut or damaged anywhere it ends, in sound that is numbers or in an error", arguments: cases(Format.all))
    func hostile(format: Format) throws {
        guard let bytes = try tone(format) else { try Test.cancel("this libsndfile does not write \(format.name)") }
        var random = SeededNumbers(seed: 7)
        for round in 0..<24 {
            var hostile = bytes
            if round % 2 == 0 { hostile.removeLast(random.below(hostile.count)) }
            for _ in 0..<min(round, hostile.count) {
                hostile[random.below(min(hostile.count, round % 3 == 0 ? 200 : hostile.count))] =
                    random.bytes(count: 1)[0]
            }
            do throws(AudioFileError) {
                let samples = try decoded(.bytes(hostile))
                let areNumbers = samples.allSatisfy { $0.isFinite }
                #expect(areNumbers, "round \(round)")
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
    }
}
