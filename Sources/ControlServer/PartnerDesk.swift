internal import ControlAPI
internal import Synchronization
internal import VoiceDevices
internal import VoiceDialog
internal import VoiceEngine
internal import VoicePartner

/// The partner of one question at a time: sound in; words, an answer and its sound out.
actor PartnerDesk {
    /// Questions of one client, and of all, that are under way or wait.
    private static let clientLimit = 2
    private static let limit = 8
    /// Of a question.
    private static let longestQuestion = Duration.seconds(60)
    /// Of an answer's sound, bytes; the rest is not spoken.
    private static let longestSound = 4 << 20

    /// Silence around a question: recognisers expect what a microphone brings before and behind the words.
    private static let pause = [Float](repeating: 0, count: Recognition.rate * 2 / 5)

    let recognition: Recognition
    private let responder: any Responder
    private let synthesiser: any Synthesiser
    private var asking: [String: Int] = [:]
    private var answered = 0

    init(_ configuration: ControlConfiguration) {
        recognition = Recognition(configuration.recogniser)
        responder = configuration.responder
        synthesiser = configuration.synthesiser
    }

    private var waiting: Int { asking.values.reduce(0, +) }

    var status: JSON {
        ["isReady": .bool(true), "waiting": .integer(waiting), "answered": .integer(answered)]
    }

    func ask(_ sound: [UInt8], by client: String) async throws(ControlError) -> JSON {
        guard asking[client, default: 0] < Self.clientLimit, waiting < Self.limit else { throw .busy }
        asking[client, default: 0] += 1
        defer {
            asking[client, default: 1] -= 1
            if asking[client] == 0 { asking[client] = nil }
        }
        let samples = try await Self.decoded(sound)
        let (transcript, answer, spoken): (String, String, [UInt8])
        do throws(PartnerError) {
            transcript = try await recognition.recognise(Self.pause + samples + Self.pause)
            answer = transcript.isEmpty ? "" : try await respond(to: transcript)
            spoken = try await speak(answer)
        } catch {
            throw ControlError(409, error.code, error.explanation)
        }
        answered += 1
        return [
            "transcript": .string(transcript), "answer": .string(answer), "sound": .string(Base64.encode(spoken)),
        ]
    }

    /// Where sound files are decoded, one after another, which takes its time: the threads of Swift's pool are all
    /// clients'.
    static let decoder = ControlThread(name: "dv-decode")

    /// Decodes a sound file, for a recogniser. Reads no more than the longest question.
    static func decoded(_ sound: [UInt8]) async throws(ControlError) -> [Float] {
        let outcome = await decoder.run { () -> Result<[Float], AudioFileError> in
            do throws(AudioFileError) {
                var reader = try AudioFileReader(.bytes(sound), convertedTo: Recognition.rate)
                let room = Int(longestQuestion / .seconds(1)) * Recognition.rate
                var samples = [Float](repeating: 0, count: room)
                var target = samples.mutableSpan
                let count = try reader.read(into: &target)
                return .success(Array(samples.prefix(count)))
            } catch {
                return .failure(error)
            }
        }
        do throws(AudioFileError) { return try outcome.get() } catch { throw ControlError(error) }
    }

    private func respond(to question: String) async throws(PartnerError) -> String {
        var dialogue = Dialogue()
        dialogue.append(.talker(question))
        let text = Collected("")
        try await responder.respond(to: dialogue) { piece in
            text.value.withLock { text in
                text += piece
                return text.utf8.count < Dialogue.longestLine
            }
        }
        return text.value.withLock { $0 }
    }

    private func speak(_ text: String) async throws(PartnerError) -> [UInt8] {
        let sound = Collected((samples: [Float](), rate: SoundRate.hertz24000))
        var splitter = SentenceSplitter()
        var sentences = splitter.append(text)
        if let last = splitter.finish() { sentences.append(last) }
        for sentence in sentences {
            try await synthesiser.synthesise(sentence) { fragment in
                sound.value.withLock { sound in
                    sound.rate = fragment.rate
                    sound.samples += fragment.samples
                    return sound.samples.count * 2 < Self.longestSound && !Task.isCancelled
                }
            }
        }
        let (samples, rate) = sound.value.withLock { $0 }
        return WaveFile.encoded(samples, rate: rate.rawValue)
    }
}

/// What closures collect.
private final class Collected<Value: Sendable>: Sendable {
    let value: Mutex<Value>

    init(_ value: sending Value) { self.value = Mutex(value) }
}

extension ControlError {
    /// A sound file that cannot be read.
    init(_ error: AudioFileError) { self.init(422, error.code.rawValue, "the body: \(error)") }

    init(_ error: EngineError) { self.init(409, error.code.rawValue, error.explanation) }
}
