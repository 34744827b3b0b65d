import VoiceProcessing
import VoiceRealtime

/// Two recordings through the engine's processing, 10 ms at a time, with a record of all that is known on the way.
struct AecProcessing {
    let settings: ProcessingSettings
    let backend: ProcessingBackend
    /// From playing to recording, as far as it is known beforehand, seconds.
    var expectedDelay: Double?

    /// Processes. The reference is cut or filled to the microphone's length.
    func run(
        _ item: AecManifest.Item, microphone: [Float], reference: [Float], near: [Float]?, rate: Int
    ) throws(Failure) -> AecResult {
        var chain: ProcessingChain
        do throws(ProcessingError) {
            chain = try ProcessingChain(
                sampleRate: rate, settings: settings, backend: backend,
                configuration: ProcessingChain.Configuration(expectedDelay: expectedDelay))
        } catch {
            throw Failure(.unavailable, "the processing could not be set up: \(error)")
        }
        try requireNeural(chain.processor)
        let block = rate / 100
        let count = microphone.count
        let blocks = (count + block - 1) / block
        var output = microphone + Array(repeating: 0, count: blocks * block - count)
        var far = Array(reference.prefix(output.count))
        far.append(contentsOf: repeatElement(0, count: output.count - far.count))
        var trace = AecTrace(rate: rate, blocks: blocks)
        var times = [Int64]()
        times.reserveCapacity(blocks)
        var last: ProcessingChain.Report?
        for start in stride(from: 0, to: output.count, by: block) {
            if start % (rate * 2) == 0 { Console.progress("echo: \(100 * start / output.count) %") }
            var all = output.mutableSpan
            var capture = all._mutatingExtracting(start..<start + block)
            let before = RealtimeWatch.cpuNanoseconds()
            let report = chain.run(capture: &capture, reference: far.span.extracting(start..<start + block))
            times.append(RealtimeWatch.cpuNanoseconds() - before)
            trace.note(report, reference: far[start..<start + block])
            last = report
        }
        Console.endProgress()
        output.removeLast(output.count - count)
        far.removeLast(far.count - count)
        return AecResult(
            item: item, backend: backend.name, library: chain.processor.traits.library,
            settings: chain.processor.activeSettings, rate: rate, microphone: microphone,
            reference: far, near: near, output: output, trace: trace, last: last, times: times)
    }

    /// Who asks for RNNoise does not want something else instead.
    private func requireNeural(_ processor: CaptureProcessor) throws(Failure) {
        guard settings.noise != .off, settings.noiseMethod == .neural, !processor.hasNeuralNoise else {
            return
        }
        guard processor.traits.hasNearEnd, !processor.traits.suppressesNoise,
            processor.sampleRate == NeuralSuppressor.sampleRate
        else {
            throw Failure(
                .usage, "--noise neural works with recordings of 48 kHz, and with the backends native and webRTC")
        }
        let reason: String
        do throws(NeuralSuppressor.Unavailable) {
            _ = try NeuralSuppressor()
            return
        } catch { reason = error.reason }
        throw Failure(
            .unavailable, "--noise neural needs RNNoise (\(reason)); install librnnoise, or take another of --noise")
    }
}
