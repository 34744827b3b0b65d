internal import Glibc
internal import VoiceSignal

/// A decoder of pocketsphinx, and the turn that it decodes. By one thread at a time.
@safe
final class SphinxWorker: @unchecked Sendable {
    private static let rate = 16_000
    /// How often what is believed so far is asked for, frames.
    private static let partialInterval = 8_000
    private static let (grammar, dictation) = ("grammar", "dictation")

    private let vocabulary: PocketsphinxRecogniser.Vocabulary
    private let model: String
    private var library: SphinxLibrary?
    private var decoder: OpaquePointer?
    private var number = 0
    private var isOpen = false
    /// What was said in the turn, for a second hearing.
    private var sound: [Int16] = []
    private var asked = 0

    init(_ vocabulary: PocketsphinxRecogniser.Vocabulary, model: String) {
        self.vocabulary = vocabulary
        self.model = model
    }

    deinit { if let library, let decoder = unsafe decoder { _ = unsafe library.free(decoder) } }

    /// Loads what is not loaded yet.
    func prepared() -> Result<Void, PartnerError> {
        do throws(PartnerError) {
            try load()
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private func load() throws(PartnerError) {
        guard unsafe decoder == nil else { return }
        guard let library = SphinxLibrary() else {
            throw .notInstalled("libpocketsphinx.so.3", package: "libpocketsphinx3 pocketsphinx-en-us")
        }
        var files = [("-hmm", "\(model)/en-us"), ("-dict", "\(model)/cmudict-en-us.dict")]
        if hasDictation { files.append(("-lm", "\(model)/en-us.lm.bin")) }
        // The library ends the process where one is missing.
        for (_, file) in files where unsafe access(file, R_OK) != 0 {
            throw .notInstalled("the model '\(file)'", package: "pocketsphinx-en-us")
        }
        var arguments = ["pocketsphinx", "-logfn", "/dev/null"]
        // Dictation as fast as it is of use: fewer paths, and one pass.
        arguments += ["-maxhmmpf", "3000", "-ds", "2", "-fwdflat", "no", "-bestpath", "no"]
        for (name, file) in files { arguments += [name, file] }
        guard let decoder = unsafe library.makeDecoder(arguments) else {
            throw .recogniserFailed("the model in '\(model)' cannot be loaded")
        }
        if let text = grammarText {
            guard text.utf8.count <= PocketsphinxRecogniser.longestGrammar,
                unsafe library.setGrammar(decoder, Self.grammar, text) == 0
            else {
                _ = unsafe library.free(decoder)
                throw .invalidConfiguration("the grammar is no JSGF, or has words that the dictionary has not")
            }
        }
        if hasDictation { _ = unsafe library.setModel(decoder, Self.dictation, "\(model)/en-us.lm.bin") }
        unsafe self.decoder = decoder
        self.library = library
    }

    private var grammarText: String? {
        switch vocabulary {
        case .grammar(let text), .grammarOrDictation(let text): text
        case .dictation: nil
        }
    }

    private var hasDictation: Bool { if case .grammar = vocabulary { false } else { true } }

    /// Begins a turn, and ends the one before; returns its number.
    func begin() -> Result<Int, PartnerError> {
        do throws(PartnerError) { try load() } catch { return .failure(error) }
        guard let library, let decoder = unsafe decoder else { return .failure(.recogniserFailed("no decoder")) }
        if isOpen { _ = unsafe library.end(decoder) }
        number += 1
        sound.removeAll(keepingCapacity: true)
        asked = 0
        _ = unsafe library.select(decoder, grammarText == nil ? Self.dictation : Self.grammar)
        isOpen = unsafe library.start(decoder) == 0
        return isOpen ? .success(number) : .failure(.recogniserFailed("it does not begin"))
    }

    /// Takes more of a turn; returns what is believed of it, now and then.
    func take(_ samples: [Float], of number: Int) -> String? {
        let room = Int(PocketsphinxRecogniser.longestTurn / .seconds(1)) * Self.rate - sound.count
        guard number == self.number, isOpen, room > 0, let library, let decoder = unsafe decoder else { return nil }
        let piece = samples.prefix(room).map(Int16.init(fullScale:))
        sound += piece
        _ = unsafe library.process(decoder, piece, piece.count, 0, 0)
        guard sound.count >= asked + Self.partialInterval else { return nil }
        asked = sound.count
        return unsafe library.text(decoder)
    }

    /// The words of a turn that has ended; empty where there are none, or another has begun.
    func finish(_ number: Int) -> String {
        guard number == self.number, isOpen, let library, let decoder = unsafe decoder else { return "" }
        isOpen = false
        guard unsafe library.end(decoder) == 0 else { return "" }
        if let text = unsafe library.text(decoder) { return text }
        guard grammarText != nil else { return "" }
        // As it came it was heard with the mean of what came before it, of which there is none in a first word; as a
        // whole, with its own.
        if let text = unsafe hearAgain(by: Self.grammar, library, decoder) { return text }
        return hasDictation ? unsafe hearAgain(by: Self.dictation, library, decoder) ?? "" : ""
    }

    /// The words of the whole turn by another search; nil where there are none.
    private func hearAgain(by search: String, _ library: SphinxLibrary, _ decoder: OpaquePointer) -> String? {
        guard unsafe library.select(decoder, search) == 0, unsafe library.start(decoder) == 0 else { return nil }
        _ = unsafe library.process(decoder, sound, sound.count, 0, 1)
        guard unsafe library.end(decoder) == 0 else { return nil }
        return unsafe library.text(decoder)
    }
}
