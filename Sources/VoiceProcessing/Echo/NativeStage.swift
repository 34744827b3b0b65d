import VoiceSignal

/// The native echo canceller.
///
///     capture ─┬─> below 8 kHz ─> NativeEchoCanceller ─┬─> out
///     far ─────┤                                       │
///              └─> above 8 kHz ─> HighBand ────────────┘   (32 and 48 kHz)
///
/// It finds the echo by itself, anywhere from 0 to 0.65 s after the reference, so the reference needs no re-timing. The
/// canceller lags by 4 ms, at 32 and 48 kHz by 5 ms. Nothing is allocated after `init`.
///
/// `delay` is a hint, used until the echo was found for the first time, and not needed: the filter then begins 20 ms
/// before the hinted delay instead of at 0 and cancels from the first sounds on, where without a hint it begins anew
/// when the echo was found, some 0.1 s after it is heard first and sometimes 0.5 s. What it has learned is kept if the
/// echo is found within 10 ms of the hint; otherwise it begins anew at the place found, as without a hint. One that is
/// too late by more than the room's echo leaves nothing to cancel with until then: the echo is turned down by 30 dB
/// where it is first heard, as any that nothing is known of, but no more. A hint is no proof of an echo: whether there
/// is one is judged as ever. One of 30 ms or less changes nothing, as the filter spans it from 0 on; so a reference
/// that was re-timed by time stamps, whose remaining delay is a few ms, is processed as it is. A hint of more than 0.65
/// s is taken for that.
final class NativeStage: EchoStage {
    let traits: EchoTraits

    private let sampleRate: Int
    private var echo = ProcessingSettings.EchoSuppression.off
    private var canceller: NativeEchoCanceller
    private var highBand: HighBand?
    private var low = RealVector(count: NativeEchoCanceller.block)
    private var farLow = RealVector(count: NativeEchoCanceller.block)
    /// Blocks of silence until nothing is left of what was played before it was switched off.
    private var blocksToForget = 0

    /// What is kept of the reference, 1.5 s.
    private static let keptBlocks = 150
    /// Time after a switch in which the output is not to be heard beyond its delay, seconds.
    private static let settlingSeconds = 0.002

    /// Takes milliseconds and allocates; not real-time safe.
    init(sampleRate: Int, tuning: NativeEchoCanceller.Tuning = NativeEchoCanceller.Tuning()) {
        self.sampleRate = sampleRate
        var traits = EchoTraits(library: tuning.suppressor.isApplied ? "native" : "native, linear stage alone")
        traits.hasLevels = true
        traits.choosesLevel = true
        traits.findsEcho = true
        self.traits = traits
        canceller = NativeEchoCanceller(tuning: tuning)
        if sampleRate > NativeEchoCanceller.sampleRate { highBand = HighBand(sampleRate: sampleRate) }
    }

    var delay: Int { echo == .off ? 0 : highBand?.delay ?? NativeEchoCanceller.delay }

    /// The echo's level changes in place; what the canceller knows of the echo's path survives being off, though it
    /// learns nothing meanwhile.
    func apply(_ settings: ProcessingSettings) -> Int? {
        let isSwitch = (echo == .off) != (settings.echo == .off)
        echo = settings.echo
        canceller.suppression = echo
        if isSwitch { blocksToForget = Self.keptBlocks }
        return isSwitch ? delay + Int(Self.settlingSeconds * Double(sampleRate)) : nil
    }

    func run(
        capture: inout MutableSpan<Float>, reference: Span<Float>, delay: Int, report: inout ProcessingReport
    ) {
        guard echo != .off else { return forget() }
        canceller.hint = delay * NativeEchoCanceller.sampleRate / sampleRate
        cancel(&capture, reference)
        canceller.describe(in: &report, rate: sampleRate)
    }

    /// Both sides fall silent for the canceller, as where a microphone is muted and nobody talks. Else it would take
    /// what was played before it was off for what is heard when it is on again. Costs what cancelling does, for as long
    /// as it takes, which is no more than was paid before.
    private func forget() {
        guard blocksToForget > 0 else { return }
        blocksToForget -= 1
        highBand?.forgetFarEnd()
        let far = InlineArray<160, Float>(repeating: 0)
        var microphone = InlineArray<160, Float>(repeating: 0)
        var span = microphone.mutableSpan
        canceller.run(capture: &span, far: far.span)
    }

    private func cancel(_ capture: inout MutableSpan<Float>, _ reference: Span<Float>) {
        guard highBand != nil else { return canceller.run(capture: &capture, far: reference) }
        highBand?.split(capture: capture.span, far: reference, low: &low, farLow: &farLow)
        var lowSpan = low.mutableSpan
        canceller.run(capture: &lowSpan, far: farLow.span)
        let upper = canceller.upperBand
        highBand?.join(
            low: low, passed: upper.passed, coupling: upper.coupling, offset: canceller.offset, into: &capture)
    }
}
