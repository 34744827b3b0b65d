import COpus
import CWebRTCAudio
import VoiceEngine
import VoiceWire

/// The library calls that an engine's tick cannot do without, and nothing around them: no rings, no RTP, no jitter
/// buffer, no mixing.
///
/// The WebRTC module through its C header, libopus directly; the settings are the engine's.
@safe
final class BareCalls {
    /// What 10 ms cost, in nanoseconds.
    struct Cost {
        var processing: Int64 = 0
        var encoding: Int64 = 0
        var decoding: Int64 = 0
        var total: Int64 { processing + encoding + decoding }
    }

    /// The reference runs this much ahead of the microphone, as behind the engine's aligner: 4 ms.
    static let leadFrames = 192
    private static let leadMilliseconds: Int32 = 4

    private let module: OpaquePointer
    private let encoder: OpaquePointer
    private let decoder: OpaquePointer
    private let packetFrames: Int
    private var capture = [Float](repeating: 0, count: TickEngine.tickFrames)
    private var reference = [Float](repeating: 0, count: TickEngine.tickFrames)
    private var frame: [Float]
    private var frameFill = 0
    private var encoded = [UInt8](repeating: 0, count: 1_500)
    private var decoded = [Float](repeating: 0, count: 5_760)
    private var report = webrtc_audio_report()
    private var packetsDecoded = 0
    private(set) var packetsEncoded = 0

    init(_ configuration: EngineConfiguration) throws {
        var settings = webrtc_audio_settings(configuration.processing)
        var module: OpaquePointer?
        let status = unsafe webrtc_audio_create(
            Int32(OpusEncoder.sampleRate), webrtc_audio_options(), &settings, &module)
        guard let module = unsafe module else {
            throw LibraryRefusal(call: "webrtc_audio_create", code: status.rawValue)
        }
        unsafe self.module = module
        var code: Int32 = OPUS_OK
        let application =
            configuration.application == .voip ? OPUS_APPLICATION_VOIP : OPUS_APPLICATION_RESTRICTED_LOWDELAY
        let encoder = unsafe opus_encoder_create(Int32(OpusEncoder.sampleRate), 1, application, &code)
        guard let encoder = unsafe encoder else { throw LibraryRefusal(call: "opus_encoder_create", code: code) }
        unsafe self.encoder = encoder
        let decoder = unsafe opus_decoder_create(Int32(OpusEncoder.sampleRate), 1, &code)
        guard let decoder = unsafe decoder else { throw LibraryRefusal(call: "opus_decoder_create", code: code) }
        unsafe self.decoder = decoder
        packetFrames = configuration.encoder.frameDuration.frames
        frame = Array(repeating: 0, count: packetFrames)
        try configure(configuration.encoder)
    }

    deinit {
        unsafe webrtc_audio_destroy(module)
        unsafe opus_encoder_destroy(encoder)
        unsafe opus_decoder_destroy(decoder)
    }

    private func configure(_ settings: OpusEncoderSettings) throws {
        for (request, value) in [
            (OPUS_SET_BITRATE_REQUEST, settings.bitratePerSecond), (OPUS_SET_COMPLEXITY_REQUEST, settings.complexity),
            (OPUS_SET_INBAND_FEC_REQUEST, settings.usesForwardErrorCorrection ? 1 : 0),
            (OPUS_SET_PACKET_LOSS_PERC_REQUEST, settings.expectedLossPercent),
            (OPUS_SET_DTX_REQUEST, settings.usesDiscontinuousTransmission ? 1 : 0),
            (OPUS_SET_SIGNAL_REQUEST, Int(OPUS_SIGNAL_VOICE)),
        ] {
            let code = unsafe opus_encoder_set(encoder, request, Int32(value))
            guard code == OPUS_OK else { throw LibraryRefusal(call: "opus_encoder_ctl", code: code) }
        }
    }

    /// Processes, encodes and decodes 10 ms; a packet is encoded when its sound is complete, and another decoded then.
    func tick(microphone: Span<Float>, speaker: Span<Float>, packets: [[UInt8]]) -> Cost {
        Self.copy(microphone, into: &capture, at: 0)
        Self.copy(speaker, into: &reference, at: 0)
        var cost = Cost()
        var watch = CPUStopwatch()
        let status = unsafe webrtc_audio_process(module, &capture, reference, Self.leadMilliseconds, &report)
        cost.processing = watch.lap()
        precondition(status == WEBRTC_AUDIO_OK, "the module refused a block")
        Self.copy(capture.span, into: &frame, at: frameFill)
        frameFill += TickEngine.tickFrames
        guard frameFill == packetFrames else { return cost }
        frameFill = 0
        packetsEncoded += 1
        watch = CPUStopwatch()
        let bytes = unsafe opus_encode_float(encoder, frame, Int32(packetFrames), &encoded, Int32(encoded.count))
        cost.encoding = watch.lap()
        precondition(bytes > 0, "libopus refused a frame")
        cost.decoding = decode(packets[packetsDecoded])
        packetsDecoded += 1
        return cost
    }

    private static func copy(_ sound: Span<Float>, into target: inout [Float], at start: Int) {
        var target = target.mutableSpan
        for index in sound.indices { target[start + index] = sound[index] }
    }

    private func decode(_ packet: [UInt8]) -> Int64 {
        let payload = packet.count - FarEnd.payloadOffset
        return unsafe packet.withUnsafeBufferPointer { packet in
            let start = unsafe packet.baseAddress.map { unsafe $0 + FarEnd.payloadOffset }
            var watch = CPUStopwatch()
            let frames = unsafe opus_decode_float(decoder, start, Int32(payload), &decoded, Int32(decoded.count), 0)
            let time = watch.lap()
            precondition(frames == packetFrames, "libopus refused a packet")
            return time
        }
    }
}

/// A library that did not do what it was asked for.
struct LibraryRefusal: Error, CustomStringConvertible {
    let call: String
    let code: Int32
    var description: String { "\(call) answered \(code)" }
}

extension webrtc_audio_settings {
    /// As the engine's own backend hands them to the module.
    fileprivate init(_ settings: ProcessingSettings) {
        self.init(echo: settings.echo.rawValue, high_pass: settings.highPass)
    }
}
