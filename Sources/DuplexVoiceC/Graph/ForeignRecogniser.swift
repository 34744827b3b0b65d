internal import CDuplexVoice
internal import VoiceEngine
internal import VoicePartner

/// A function of C's for recognition. C says that it may be called on any thread.
@safe
struct ForeignRecognition: @unchecked Sendable {
    let call: dv_graph_recogniser
    let context: UnsafeMutableRawPointer?

    /// The text, or why there is none.
    func callAsFunction(_ sound: [Float]) -> Result<String, PartnerError> {
        var text = [CChar](repeating: 0, count: Int(DV_GRAPH_TEXT_BYTES))
        let result = unsafe sound.withUnsafeBufferPointer { sound -> Int32 in
            guard let start = sound.baseAddress else { return 0 }
            return unsafe call(context, start, sound.count, &text)
        }
        // Whatever was written, it ends.
        text[text.count - 1] = 0
        let written = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard result == 0 else { return .failure(.recogniserFailed(written.isEmpty ? "\(result)" : written)) }
        return .success(written)
    }
}

/// The caller's recogniser: on a thread of its own, since it may block.
final class ForeignRecogniser: Recogniser {
    private let recognition: ForeignRecognition
    private let gate: CallbackGate
    private let thread = ControlThread(name: "voice-recognise")

    init(_ recognition: ForeignRecognition, _ gate: CallbackGate) {
        (self.recognition, self.gate) = (recognition, gate)
    }

    func recognise(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) async throws(PartnerError) -> String {
        var all: [Float] = []
        for await samples in sound { all += samples }
        return try await thread.run { [recognition, gate, all] in
            var outcome: Result<String, PartnerError> = .success("")
            gate.pass { outcome = recognition(all) }
            return outcome
        }.get()
    }
}
