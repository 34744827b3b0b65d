import ArgumentParser
import Foundation
import VoiceEngine
import VoicePartner

/// Which partner is talked with.
struct TalkPartner: ParsableArguments {
    @Flag(help: "The partner that needs no network.") var offline = false
    @OptionGroup var server: RealtimeOptions
    @Flag(help: "Offline: listen for anything where no command was said. Slow, and often wrong.") var dictation = false
    @Option(help: "Offline: a grammar (JSGF) of what is listened for, in place of the commands.", completion: .file())
    var grammar: String?
    @Option(help: "Offline: the voice, one of 'espeak-ng --voices'.") var voice = "en-us"

    /// Larger files are no grammar, bytes.
    private static let longestGrammar = 65_536

    func validate() throws {
        guard offline != (server.realtime != nil) else {
            throw ValidationError("say whom to talk with: --offline, or --realtime URL")
        }
    }

    /// The rate at which the partner hears.
    var nearEndRate: SoundRate { offline ? .hertz16000 : RealtimeOptions.rate }

    /// The partner that was asked for.
    func make() throws -> any Partner {
        if let url = server.realtime { return try server.make(url) }
        let text = try grammar.map(Self.read) ?? DialogueCore.grammar
        let synthesiser: EspeakSynthesiser
        do throws(PartnerError) { synthesiser = try EspeakSynthesiser(voice: voice) } catch { throw Failure(error) }
        return CascadePartner(
            recogniser: PocketsphinxRecogniser(dictation ? .grammarOrDictation(text) : .grammar(text)),
            responder: DialogueCore(clock: Self.wallTime), synthesiser: synthesiser)
    }

    private static func read(_ path: String) throws -> String {
        try InputFile.check(path)
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.read(upToCount: longestGrammar + 1),
            data.count <= longestGrammar
        else { throw Failure(.inputUnusable, "'\(path)' cannot be read, or is longer than 64 KiB") }
        return String(decoding: data, as: UTF8.self)
    }

    @Sendable private static func wallTime() -> DialogueCore.WallTime {
        let now = Calendar.current.dateComponents([.hour, .minute], from: Date())
        return DialogueCore.WallTime(hour: now.hour ?? 0, minute: now.minute ?? 0)
    }
}

extension Failure {
    /// A partner that does not work.
    init(_ error: PartnerError) {
        let code: Code
        switch error {
        case .invalidConfiguration: code = .usage
        default: code = .unavailable
        }
        self.init(code, error.explanation)
    }
}
