import ArgumentParser
import Foundation
import VoicePartner

/// The parts of the partner that needs no network.
struct OfflineOptions: ParsableArguments {
    @Flag(help: "Offline: listen for anything where no command was said. Slow, and often wrong.") var dictation = false
    @Option(help: "Offline: a grammar (JSGF) of what is listened for, in place of the commands.", completion: .file())
    var grammar: String?
    @Option(help: "Offline: the voice, one of 'espeak-ng --voices'.") var voice = "en-us"

    /// What hears, thinks and speaks.
    struct Parts {
        var recogniser: any Recogniser
        var responder: any Responder
        var synthesiser: any Synthesiser
    }

    /// Larger files are no grammar, bytes.
    private static let longestGrammar = 65_536

    /// The parts, not prepared.
    func make() throws -> Parts {
        let text = try grammar.map(Self.read) ?? DialogueCore.grammar
        do throws(PartnerError) {
            return Parts(
                recogniser: PocketsphinxRecogniser(dictation ? .grammarOrDictation(text) : .grammar(text)),
                responder: DialogueCore(clock: Self.wallTime), synthesiser: try EspeakSynthesiser(voice: voice))
        } catch {
            throw Failure(error)
        }
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
