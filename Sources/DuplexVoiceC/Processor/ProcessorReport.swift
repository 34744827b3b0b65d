internal import CDuplexVoice
internal import VoiceProcessing

extension ProcessorNews {
    /// As a C structure.
    var cReport: dv_processor_report {
        var filled = dv_processor_report()
        filled.size = UInt32(MemoryLayout<dv_processor_report>.size)
        filled.blocks = blocks
        filled.failed_blocks = UInt64(failedBlocks)
        let block = report?.processing
        filled.voice_activity = block?.voiceActivity.map { $0 ? 1 : 0 } ?? -1
        filled.input_level = block?.inputLevel ?? Self.silence
        filled.reference_level = block?.referenceLevel ?? Self.silence
        filled.output_level = block?.outputLevel ?? Self.silence
        filled.echo_level = block?.echoLevel ?? .nan
        filled.echo_return_loss = block?.echoReturnLoss ?? .nan
        filled.echo_return_loss_enhancement = block?.echoReturnLossEnhancement ?? .nan
        filled.echo_delay_ms = report?.echoDelay.map { Float($0.delay) * 1_000 / Float(innerRate) } ?? .nan
        filled.echo_drift_ppm = block?.echoDriftPPM ?? .nan
        filled.echo_presence = block?.echoPresence ?? .nan
        filled.echo_readiness = block?.echoReadiness ?? .nan
        filled.speech_probability = block?.speechProbability ?? .nan
        filled.speech_level = block?.speechLevel ?? .nan
        filled.noise_level = block?.noiseLevel ?? .nan
        filled.gain = block?.gain ?? .nan
        filled.limiting = block?.limiting ?? .nan
        filled.momentary_loudness = block?.momentaryLoudness ?? .nan
        return filled
    }

    /// dBFS of digital silence.
    private static let silence: Float = -127
}
