public import VoiceEngine

/// Turns text into speech.
///
/// It is called in tasks of Swift's cooperative pool, several at once where several talks share it. What blocks belongs
/// on a thread of its own.
public protocol Synthesiser: Sendable {
    /// Makes ready what takes long; to be called once before the first use. Throws what is in the way of every use.
    func prepare() async throws(PartnerError)

    /// Speaks one sentence, in fragments of some 20 ms as they are made.
    ///
    /// - Parameters:
    ///   - sentence: its text, without line breaks.
    ///   - play: takes a fragment, and suspends while there is no room; false where no more is wanted. Then, and where
    ///     the task is cancelled, it returns without another fragment.
    func synthesise(
        _ sentence: String, play: @escaping @Sendable (SpeechFragment) async -> Bool
    ) async throws(PartnerError)
}

extension Synthesiser {
    /// Has nothing to make ready.
    public func prepare() async throws(PartnerError) {}
}

/// Some sound of a sentence.
public struct SpeechFragment: Equatable, Sendable {
    /// Mono, full scale ±1.
    public var samples: [Float]
    /// Of the samples.
    public var rate: SoundRate

    /// These samples.
    public init(_ samples: [Float], rate: SoundRate) {
        self.samples = samples
        self.rate = rate
    }

    /// How long it lasts.
    public var duration: Duration { .seconds(1) * samples.count / rate.rawValue }
}
