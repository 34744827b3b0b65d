import VoiceProcessing

/// An echo stage of a client's own: turns the microphone down by 40 dB while the far end is heard, as an intercom does.
///
/// The processor around it cares for bounds, noise, gain and speech.
final class HalfDuplex: EchoStage {
    let traits = EchoTraits(library: "half duplex")
    let delay = 0

    /// Blocks of 10 ms for which a room goes on after the far end.
    private static let tail = 30
    /// Mean square of a far end that is heard: -50 dBFS.
    private static let audible: Float = 1e-5
    private var isOn = false
    private var remaining = 0
    private var gain: Float = 1

    /// The gain glides, so no change needs to be covered.
    func apply(_ settings: ProcessingSettings) -> Int? {
        isOn = settings.echo != .off
        return nil
    }

    func run(capture: inout MutableSpan<Float>, reference: Span<Float>, delay: Int, report: inout ProcessingReport) {
        var energy: Float = 0
        for index in reference.indices { energy += reference[index] * reference[index] }
        remaining = energy > Self.audible * Float(reference.count) ? Self.tail : max(0, remaining - 1)
        report.mayContainEcho = remaining > 0
        let target: Float = isOn && remaining > 0 ? 0.01 : 1
        for index in capture.indices {
            gain += 0.01 * (target - gain)
            capture[index] *= gain
        }
    }
}

extension ProcessingBackend {
    /// For `EngineConfiguration(backend: .halfDuplex)`, or a processor by itself.
    static let halfDuplex = custom("half-duplex") { _, _ in HalfDuplex() }
}
