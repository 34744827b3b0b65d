// CustomBackend: two seconds of a microphone that hears the loudspeaker for the first of them; prints its level before
// and after.
import VoiceProcessing

let processor = try ProcessingBackend.halfDuplex.makeProcessor(
    sampleRate: 48_000, settings: ProcessingSettings(echo: .medium))
var random = SystemRandomNumberGenerator()
for block in 0..<200 {
    let far = (0..<480).map { _ in block < 100 ? Float.random(in: -0.3...0.3, using: &random) : 0 }
    var microphone = far.map { 0.5 * $0 + Float.random(in: -0.05...0.05, using: &random) }
    var span = microphone.mutableSpan
    let report = processor.run(capture: &span, reference: far.span, delay: 0)
    if block % 20 == 19 { print("\(block + 1)0 ms: \(report.inputLevel) dBFS heard, \(report.outputLevel) dBFS left") }
}
