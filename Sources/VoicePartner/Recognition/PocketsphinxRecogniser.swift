internal import VoiceEngine

/// Recognises English with pocketsphinx: a small grammar with certainty, free dictation as well as it can. The library
/// is looked for when it is prepared: see docs/decisions/050. Debian: `libpocketsphinx3` and `pocketsphinx-en-us`.
///
/// One turn at a time: the next one's beginning ends the one before. Blocks no thread of Swift's pool.
public final class PocketsphinxRecogniser: Recogniser {
    /// What is listened for.
    public enum Vocabulary: Equatable, Sendable {
        /// Sentences of this grammar (JSGF) alone; nothing where none of them was said.
        case grammar(String)
        /// Anything.
        case dictation
        /// Sentences of this grammar, and anything where none of them was said. Dictation takes as long as the sound
        /// lasts, or longer.
        case grammarOrDictation(String)
    }

    /// A turn that lasts longer is recognised from its beginning so far.
    public static let longestTurn = Duration.seconds(60)
    /// Longer grammars are refused, bytes.
    static let longestGrammar = 65_536

    private let worker: SphinxWorker
    private let thread = ControlThread(name: "voice-recognise")

    /// Listens for this. `model` is the folder that `pocketsphinx-en-us` installs.
    public init(_ vocabulary: Vocabulary, model: String = "/usr/share/pocketsphinx/model/en-us") {
        worker = SphinxWorker(vocabulary, model: model)
    }

    /// Loads the library and the model: a second or some, and of the order of 100 MB.
    public func prepare() async throws(PartnerError) {
        try await thread.run { [worker] in worker.prepared() }.get()
    }

    /// Recognises while somebody speaks; see ``Recogniser/recognise(_:partial:)``.
    public func recognise(
        _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
    ) async throws(PartnerError) -> String {
        let number = try await thread.run { [worker] in worker.begin() }.get()
        var believed = ""
        for await samples in sound {
            let text = await thread.run { [worker] in worker.take(samples, of: number) }
            if let text, text != believed {
                believed = text
                await partial(text)
            }
        }
        guard !Task.isCancelled else { return "" }
        return await thread.run { [worker] in worker.finish(number) }
    }
}
