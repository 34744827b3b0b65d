import Testing
import VoiceDevices

#if canImport(Glibc)
    import Glibc
#endif

@Suite("What a sound file may ask for")
struct AudioFileBoundsTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func little(_ value: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// A WAV file of 8-bit samples, whose data are a hole in the file: it takes no room on the disk.
    private func wav(_ name: String, rate: Int, channels: Int = 1, frames: Int) throws -> String {
        var bytes = Array("RIFF".utf8) + little(36 + frames * channels, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
        bytes += little(1, 2) + little(channels, 2) + little(rate, 4) + little(rate * channels, 4)
        bytes += little(channels, 2) + little(8, 2) + Array("data".utf8) + little(frames * channels, 4)
        try folder.write(bytes, to: name)
        let error = unsafe truncate(folder.file(name), bytes.count + frames * channels)
        try #require(error == 0)
        return folder.file(name)
    }

    @Test("The bounds are what they say")
    func bounds() {
        #expect(AudioFile.sampleRates == 4_000...768_000)
        #expect(AudioFile.maximumChannels == 64)
        #expect(AudioFile.longest == .seconds(14_400))
    }

    @Test("A rate at which nothing is speech is refused, and not multiplied by 48,000", arguments: [1, 100, 3_999])
    func lowRate(rate: Int) throws {
        let path = try wav("low.wav", rate: rate, frames: 1_000)
        let error = fileError { () throws(AudioFileError) in _ = try AudioFile.read(path) }
        #expect(error == .unsupportedRate(path: path, sampleRate: rate))
        #expect(error?.description.contains(path) == true && error?.description.contains("4000 to 768000 Hz") == true)
        let same = fileError { () throws(AudioFileError) in _ = try AudioFile.read(path, convertedTo: nil) }
        #expect(same == .unsupportedRate(path: path, sampleRate: rate))
    }

    @Test("A rate to convert to is bounded as well")
    func targetRate() throws {
        let path = try wav("a.wav", rate: 8_000, frames: 80)
        let error = fileError { () throws(AudioFileError) in _ = try AudioFile.read(path, convertedTo: 1) }
        #expect(error == .unsupportedRate(path: path, sampleRate: 1))
        #expect(try AudioFile.read(try wav("b.wav", rate: 4_000, frames: 40)).samples.count == 480)
    }

    @Test("More channels than any recording has are refused")
    func channels() throws {
        let path = try wav("many.wav", rate: 48_000, channels: 1_000, frames: 480)
        let error = fileError { () throws(AudioFileError) in _ = try AudioFile.read(path) }
        #expect(error == .tooManyChannels(path: path, channels: 1_000))
        #expect(error?.description.contains("1000 channels; use at most 64") == true)
        #expect(try AudioFile.read(try wav("most.wav", rate: 48_000, channels: 64, frames: 480)).channels == 64)
    }

    @Test("What is too long for the memory is refused before it is read, and can be read bit by bit")
    func length() throws {
        let path = try wav("long.wav", rate: 4_000, frames: 4_000 * 14_400)
        let error = fileError { () throws(AudioFileError) in _ = try AudioFile.read(path) }
        #expect(error == .tooLong(path: path))
        #expect(error?.description.contains("longer than 4 hours") == true)
        var reader = try AudioFileReader(path)
        var block = [Float](repeating: 0, count: 480)
        var room = block.mutableSpan
        #expect(try reader.read(into: &room) == 480)
    }

    @Test("How far channels cancel each other is known from reading them once")
    func cancellation() throws {
        // 16 bits: left 0.5, right -0.49; their mix is 0.005, 40 dB below the left.
        var bytes = Array("RIFF".utf8) + little(36 + 400, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
        bytes += little(1, 2) + little(2, 2) + little(48_000, 4) + little(192_000, 4) + little(4, 2) + little(16, 2)
        bytes += Array("data".utf8) + little(400, 4)
        for _ in 0..<100 { bytes += little(16_384, 2) + little(-16_056 & 0xFFFF, 2) }
        try folder.write(bytes, to: "stereo.wav")
        let loss = try #require(try AudioFile.read(folder.file("stereo.wav")).mixLossDecibels)
        #expect(abs(loss - 40) < 0.1)
        try AudioFile.write([0.5, 0.5], to: folder.file("mono.wav"))
        #expect(try AudioFile.read(folder.file("mono.wav")).mixLossDecibels == nil)
    }
}
