import ArgumentParser
import RealtimePartner
import VoicePartner
import VoiceWeb

/// The parts of the partner that needs no network.
struct OfflineOptions: ParsableArguments {
    @Flag(help: "Offline: listen for anything where no command was said. Slow, and often wrong.") var dictation = false
    @Option(help: "Offline: a grammar (JSGF) of what is listened for, in place of the commands.", completion: .file())
    var grammar: String?
    @Option(
        help:
            "Offline: who thinks of the answers: the URL of chat completions, such as https://host/v1/chat/completions."
    )
    var responder: String?
    @Option(help: "Responder: the model.") var model: String?
    @Option(
        help:
            "Responder: a file whose first line is its key, which 'talk' and 'agent' take from --key-file too; or set DUPLEX_RESPONDER_KEY, or for OpenAI's servers OPENAI_API_KEY.",
        completion: .file())
    var responderKeyFile: String?
    @Option(help: "Offline: the voice, one of 'espeak-ng --voices'.") var voice = OfflineOptions.usualVoice

    private static let usualVoice = "en-us"

    /// Whether a partner without a network is described.
    var isChosen: Bool { dictation || grammar != nil || responder != nil || voice != Self.usualVoice }

    /// What hears, thinks and speaks.
    struct Parts {
        var recogniser: any Recogniser
        var responder: any Responder
        var synthesiser: any Synthesiser
    }

    /// Larger files are no grammar, bytes.
    private static let longestGrammar = 65_536

    func validate() throws {
        guard (responder == nil) == (model == nil) else {
            throw ValidationError("--responder and --model belong together; give both or neither")
        }
        guard responder != nil || responderKeyFile == nil else {
            throw ValidationError("--responder-key-file is for --responder")
        }
        if let responder, WebAddress(http: responder) == nil {
            throw ValidationError(
                "'\(responder)' is no URL of chat completions: give one like https://host/v1/chat/completions")
        }
    }

    /// The parts, not prepared.
    ///
    /// - Parameter server: what it has of a key, of instructions and of authorities is the responder's too.
    func make(_ server: RealtimeOptions? = nil) throws -> Parts {
        let text = try grammar.map(Self.read) ?? DialogueCore.grammar
        let synthesiser: EspeakSynthesiser
        do throws(PartnerError) { synthesiser = try EspeakSynthesiser(voice: voice) } catch { throw Failure(error) }
        return Parts(
            recogniser: PocketsphinxRecogniser(dictation ? .grammarOrDictation(text) : .grammar(text)),
            responder: try thinker(server), synthesiser: synthesiser)
    }

    private func thinker(_ server: RealtimeOptions?) throws -> any Responder {
        guard let responder, let model else { return DialogueCore() }
        guard let address = WebAddress(http: responder) else { throw Failure(.usage, "'\(responder)' is no URL") }
        let key =
            try responderKeyFile.map { try ServerKey.read($0, option: "--responder-key-file") }
            ?? server?.keyFile.map { try ServerKey.read($0) }
            ?? ServerKey.inEnvironment("DUPLEX_RESPONDER_KEY", for: address)
        guard key == nil || address.isSecure || ServerKey.isThisMachine(address.host) else {
            throw Failure(.usage, "a key would go over http:// in plaintext: use https://")
        }
        let request = try WebSocketRequest(address, authorities: server?.authorities)
        return ChatResponder(
            request, model: model, key: key, instructions: server?.instructions ?? ChatResponder.usualInstructions)
    }

    static func read(_ path: String) throws -> String {
        try InputFile.check(path)
        let file = try SecretFile(path, limit: longestGrammar + 1, kind: "grammar", option: "--grammar")
        guard file.bytes.count <= longestGrammar else {
            throw Failure(.inputUnusable, "'\(path)' is longer than 64 KiB")
        }
        return String(decoding: file.bytes, as: UTF8.self)
    }
}
