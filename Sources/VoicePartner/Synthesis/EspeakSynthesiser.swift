internal import VoiceEngine
internal import VoiceSignal

/// Speaks with espeak-ng, which runs as a program of its own for each sentence: see docs/decisions/050. Debian:
/// `espeak-ng`.
///
/// Blocks no thread of Swift's pool.
public final class EspeakSynthesiser: Synthesiser {
    private let voice: String
    private let wordsPerMinute: Int
    private let thread = ControlThread(name: "voice-synthesis")

    /// A voice of `espeak-ng --voices`, and its pace, 80 to 450 words a minute.
    ///
    /// - Throws: ``PartnerError/invalidConfiguration(_:)``; whether espeak-ng has the voice, ``prepare()`` shows.
    public init(voice: String = "en-us", wordsPerMinute: Int = 165) throws(PartnerError) {
        guard !voice.isEmpty, voice.count <= 64, !voice.hasPrefix("-") else {
            throw .invalidConfiguration("the voice is '\(voice)'; use one of 'espeak-ng --voices'")
        }
        guard (80...450).contains(wordsPerMinute) else {
            throw .invalidConfiguration("the pace is \(wordsPerMinute) words a minute; use 80 to 450")
        }
        self.voice = voice
        self.wordsPerMinute = wordsPerMinute
    }

    /// Says a word to nobody: what is not installed shows, and what is is in memory.
    public func prepare() async throws(PartnerError) {
        try await synthesise("Ready.") { _ in true }
    }

    /// Speaks in fragments of 20 ms; see ``Synthesiser/synthesise(_:play:)``.
    public func synthesise(
        _ sentence: String, play: @escaping @Sendable (SpeechFragment) async -> Bool
    ) async throws(PartnerError) {
        let arguments = ["--stdin", "--stdout", "-b", "1", "-v", voice, "-s", "\(wordsPerMinute)"]
        let opened = await thread.run { () -> Result<SpokenStream, PartnerError> in
            do throws(PartnerError) {
                return .success(try SpokenStream("espeak-ng", arguments, Array(sentence.utf8)))
            } catch {
                return .failure(error)
            }
        }
        let stream = try opened.get()
        while !Task.isCancelled, let fragment = await thread.run({ stream.next() }) {
            guard await play(fragment) else { break }
        }
        // It may still run, and waiting for its end blocks.
        await thread.run { stream.close() }
    }
}

/// The sound of a program that writes a WAV file, at 48 kHz, as it comes. By one thread.
private final class SpokenStream: @unchecked Sendable {
    private static let headerBytes = 44
    /// A sentence that lasts longer is cut.
    private static let longest = Duration.seconds(60)

    private var program: ChildProgram?
    private var converter: RateConverter
    private let rate: Int
    private var frames = 0

    /// - Throws: what ``ChildProgram`` does, and where there is no sound in it.
    init(_ name: String, _ arguments: [String], _ text: [UInt8]) throws(PartnerError) {
        let program = try ChildProgram(name, arguments, input: text)
        let header = program.read(Self.headerBytes)
        func number(_ offset: Int, _ bytes: Int) -> Int {
            (0..<bytes).reduce(0) { $0 | Int(header[offset + $1]) << (8 * $1) }
        }
        guard header.count == Self.headerBytes, header.starts(with: Array("RIFF".utf8)), number(20, 2) == 1,
            number(22, 2) == 1, number(34, 2) == 16, (8_000...48_000).contains(number(24, 4))
        else { throw .synthesiserFailed("\(name) gave no sound: does it know the voice?") }
        rate = number(24, 4)
        do throws(RateConverterError) {
            converter = try RateConverter(inputRate: rate, outputRate: SoundRate.hertz48000.rawValue)
        } catch {
            throw .synthesiserFailed("\(error)")
        }
        self.program = program
    }

    /// The next 20 ms; nil at the end.
    func next() -> SpeechFragment? {
        guard let program, frames < Int(Self.longest / .seconds(1)) * rate else { return nil }
        let bytes = program.read(rate / 50 * 2)
        let input = stride(from: 0, to: bytes.count - 1, by: 2).map {
            Float(fullScale: Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8))
        }
        guard !input.isEmpty else { return nil }
        frames += input.count
        let room = input.count * SoundRate.hertz48000.rawValue / rate + 64
        let samples = unsafe [Float](unsafeUninitializedCapacity: room) { output, filled in
            filled = unsafe input.withUnsafeBufferPointer { input in
                guard let from = input.baseAddress, let to = output.baseAddress else { return 0 }
                return unsafe converter.process(from, input.count, to, room).produced
            }
        }
        return SpeechFragment(samples, rate: .hertz48000)
    }

    func close() { program = nil }
}
