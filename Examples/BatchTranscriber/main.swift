// BatchTranscriber FILE.wav [GRAMMAR.jsgf text]: what is said in a recording, by pocketsphinx: dictation, or a grammar.
import Glibc
import VoiceEngine
import VoicePartner

let arguments = CommandLine.arguments.dropFirst()
guard let file = arguments.first else {
    print("usage: BatchTranscriber FILE.wav [GRAMMAR]")
    exit(64)
}
let vocabulary = arguments.dropFirst().first.map(PocketsphinxRecogniser.Vocabulary.grammar) ?? .dictation
let (pieces, seconds) = try await transcribe(file, by: PocketsphinxRecogniser(vocabulary)) { start, end, text in
    print("\((start * 100).rounded() / 100) to \((end * 100).rounded() / 100) s: \(PlainText.escaped(text))")
}
print("\(pieces) pieces, \((seconds * 100).rounded() / 100) s")
