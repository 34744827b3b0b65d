import TestCases
import Testing

@testable import VoiceDevices

#if canImport(Glibc)
    import Glibc
#endif

/// The error that `body` throws, or nil.
func fileError(_ body: () throws(AudioFileError) -> Void) -> AudioFileError? {
    do { try body() } catch { return error }
    return nil
}

@Suite("Audio files")
struct AudioFileTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("16-bit samples come back as they were, every one of them")
    func everyInteger() throws {
        let samples = (-32_768...32_767).map { Float($0) / 32_768 }
        try AudioFile.write(samples, to: folder.file("a.wav"))
        let read = try AudioFile.read(folder.file("a.wav"))
        #expect(read == AudioFile(samples: samples, sampleRate: 48_000, channels: 1))
    }

    @Test("Float samples come back bit for bit", arguments: [1 as UInt64, 2])
    func floats(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let samples = random.noise(10_000, amplitude: 4)
        try AudioFile.write(samples, to: folder.file("f.wav"), encoding: .float32)
        #expect(try AudioFile.read(folder.file("f.wav")).samples == samples, "seed \(seed)")
    }

    @Test("What is written can be read before the file is closed, as after a kill")
    func unclosed() throws {
        var writer = try AudioFileWriter(folder.file("u.wav"))
        let samples = [Float](repeating: 0.25, count: 4_800)
        try writer.write(samples.span)
        #expect(try AudioFile.read(folder.file("u.wav")).samples == samples)
        try writer.close()
    }

    @Test("What a WAV file cannot state the length of is refused, and what is before it stays")
    func limit() throws {
        let path = folder.file("long.wav")
        var writer = try AudioFileWriter(path, sampleRate: 48_000, encoding: .int16, limit: 2_000)
        let block = [Float](repeating: 0.25, count: 480)
        try writer.write(block.span)
        try writer.write(block.span)
        var refusal: AudioFileError?
        do { try writer.write(block.span) } catch { refusal = error }
        #expect(refusal == .unwritable(path: path, reason: "a WAV file holds no more than 4 GiB"))
        try writer.close()
        #expect(try AudioFile.read(path).samples.count == 960)
    }

    @Test("Of the largest finite numbers resampling makes none that is not finite")
    func overshoot() throws {
        let steps = (0..<4_410).map { Float($0 / 40 % 2 == 0 ? 3.3e38 : -3.3e38) }
        try AudioFile.write(steps, to: folder.file("huge.wav"), sampleRate: 44_100, encoding: .float32)
        #expect(try AudioFile.read(folder.file("huge.wav")).samples.allSatisfy(\.isFinite))
    }

    @Test("Beyond full scale is limited; what is no number is silence")
    func limits() throws {
        try AudioFile.write([2, -2, .nan, .infinity], to: folder.file("l.wav"))
        #expect(try AudioFile.read(folder.file("l.wav")).samples == [32_767.0 / 32_768, -1, 0, 32_767.0 / 32_768])
        try AudioFile.write([.nan, .infinity, 0.5], to: folder.file("n.wav"), encoding: .float32)
        #expect(try AudioFile.read(folder.file("n.wav")).samples == [0, 0, 0.5])
    }

    @Test(
        "Other rates are resampled without an offset, and with their whole length",
        arguments: [8_000, 16_000, 44_100, 96_000])
    func rates(rate: Int) throws {
        // A slow raised-cosine bump in the middle: its middle must stay where it is in time.
        let count = rate / 2
        let bump = (0..<count).map { frame in
            let x = (Double(frame) / Double(rate) - 0.25) / 0.02
            return Float(abs(x) < 1 ? 0.5 + 0.5 * cos(.pi * x) : 0)
        }
        try AudioFile.write(bump, to: folder.file("r.wav"), sampleRate: rate, encoding: .float32)
        let read = try AudioFile.read(folder.file("r.wav"))
        #expect(read.sampleRate == rate)
        #expect(read.samples.count == (count * 48_000 + rate - 1) / rate)
        let weight = read.samples.reduce(0) { $0 + Double($1) }
        let centre = read.samples.enumerated().reduce(0) { $0 + Double($1.offset) * Double($1.element) } / weight
        #expect(abs(centre / 48_000 - 0.25) < 1e-5)
        #expect(abs((read.samples.max() ?? 0) - 1) < 0.01)
    }

    @Test("Several channels are averaged, or one is taken")
    func channels() throws {
        // A stereo WAV by hand: 16 bits, left 0.5, right -0.25.
        let frames = 100
        var bytes = Array("RIFF".utf8) + little(36 + frames * 4, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
        bytes += little(1, 2) + little(2, 2) + little(48_000, 4) + little(192_000, 4) + little(4, 2) + little(16, 2)
        bytes += Array("data".utf8) + little(frames * 4, 4)
        for _ in 0..<frames { bytes += little(16_384, 2) + little(-8_192 & 0xFFFF, 2) }
        try folder.write(bytes, to: "stereo.wav")
        let path = folder.file("stereo.wav")
        #expect(try AudioFile.read(path).samples == Array(repeating: 0.125, count: frames))
        #expect(try AudioFile.read(path, channels: .channel(0)).samples == Array(repeating: 0.5, count: frames))
        #expect(try AudioFile.read(path, channels: .channel(1)).samples == Array(repeating: -0.25, count: frames))
        #expect(try AudioFile.read(path, channels: .channel(7)).samples == Array(repeating: -0.25, count: frames))
        #expect(try AudioFile.read(path).channels == 2)
    }

    private func little(_ value: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    @Test("Each way of failing has its own error")
    func errors() throws {
        let none = folder.file("none.wav")
        #expect(fileError { () throws(AudioFileError) in _ = try AudioFile.read(none) } == .missing(path: none))
        try folder.write(Array("this is no sound at all, only words".utf8), to: "words.txt")
        let words = folder.file("words.txt")
        let notAudio = fileError { () throws(AudioFileError) in _ = try AudioFile.read(words) }
        guard case .notAudio(words, _) = notAudio else {
            Issue.record("not audio gave \(String(describing: notAudio))")
            return
        }
        try folder.write([], to: "empty.wav")
        let empty = fileError { () throws(AudioFileError) in _ = try AudioFile.read(folder.file("empty.wav")) }
        guard case .notAudio = empty else {
            Issue.record("an empty file gave \(String(describing: empty))")
            return
        }
        let nowhere = folder.file("no/such/folder/x.wav")
        let unwritable = fileError { () throws(AudioFileError) in try AudioFile.write([0], to: nowhere) }
        guard case .unwritable(nowhere, _) = unwritable else {
            Issue.record("an unwritable path gave \(String(describing: unwritable))")
            return
        }
        let rate = fileError { () throws(AudioFileError) in try AudioFile.write([0], to: words, sampleRate: 0) }
        #expect(rate == .unsupportedRate(path: words, sampleRate: 0))
    }

    @Test("A full disk is told as such, whenever it shows")
    func fullDisk() throws {
        let error = fileError { () throws(AudioFileError) in
            try AudioFile.write([Float](repeating: 0.1, count: 100_000), to: "/dev/full")
        }
        #expect(error == .diskFull(path: "/dev/full"))
    }

    @Test("What one thread fails to open is not told to another")
    func reasonsOfThreads() async throws {
        // Given something that is no sound
        try folder.write([UInt8](repeating: 7, count: 100), to: "noise.wav")
        let noise = folder.file("noise.wav")
        // When it is opened again and again while another thread finds the disk full
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<500 { _ = fileError { () throws(AudioFileError) in _ = try AudioFile.read(noise) } }
            }
            group.addTask {
                for _ in 0..<500 {
                    let error = fileError { () throws(AudioFileError) in try AudioFile.write([0.1], to: "/dev/full") }
                    // Then each hears of its own
                    #expect(error == .diskFull(path: "/dev/full"))
                }
            }
        }
    }

    @Test("Without permission a file does not open", .enabled(if: geteuid() != 0, "root may open everything"))
    func permission() throws {
        try folder.write([0], to: "locked.wav")
        let locked = folder.file("locked.wav")
        _ = unsafe chmod(locked, 0)
        #expect(
            fileError { () throws(AudioFileError) in _ = try AudioFile.read(locked) } == .permissionDenied(path: locked)
        )
    }
}
