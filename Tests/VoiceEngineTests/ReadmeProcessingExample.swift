// What stands between the two marks is the README's second example, word for word; ReadmeTests compares the two.

// README: begin
import VoiceProcessing

/// Takes the echo of what was played out of what was recorded: mono, 48 kHz, 10 ms at a time.
func withoutEcho(recorded: [Float], played: [Float]) throws -> [Float] {
    var chain = try ProcessingChain(sampleRate: 48_000, settings: .voiceChat)
    var output = recorded
    for start in stride(from: 0, through: min(recorded.count, played.count) - 480, by: 480) {
        var block = Array(output[start..<start + 480])
        var capture = block.mutableSpan
        _ = chain.run(capture: &capture, reference: played.span.extracting(start..<start + 480))
        output.replaceSubrange(start..<start + 480, with: block)
    }
    return output
}
// README: end
