public import CDuplexVoice
internal import VoiceEngine
internal import VoiceRealtime

/// `dv_engine_get_statistics`.
@c @implementation
public func dv_engine_get_statistics(
    _ engine: dv_engine, _ statistics: UnsafeMutablePointer<dv_engine_statistics>?
) -> dv_status {
    reporting(to: nil) { () throws(Failure) in
        let counted = try EngineObject.held(engine).perform { engine throws(EngineError) in try engine.statistics() }
        try unsafe dv_engine_statistics(counted).write(to: unsafe statistics)
    }
}

/// `dv_engine_get_talker`.
@c @implementation
public func dv_engine_get_talker(
    _ engine: dv_engine, _ participant: UInt32, _ statistics: UnsafeMutablePointer<dv_talker_statistics>?,
    _ error: UnsafeMutablePointer<dv_error>?
) -> dv_status {
    unsafe reporting(to: error) { () throws(Failure) in
        let id = ParticipantID(rawValue: participant)
        let stream = try EngineObject.held(engine).perform { engine throws(EngineError) in
            guard let stream = try engine.statistics().streams.first(where: { $0.participant == id }) else {
                throw .unknownParticipant(id)
            }
            return stream
        }
        try unsafe dv_talker_statistics(stream).write(to: unsafe statistics)
    }
}

extension dv_engine_statistics {
    fileprivate init(_ counted: EngineStatistics) {
        self.init()
        talkers = UInt32(counted.streams.count)
        take(counted.uplink)
        take(counted.device)
        packets_receive_dropped = UInt64(counted.downlink.packetsDropped + (counted.room?.packetsDropped ?? 0))
        packets_received = UInt64(counted.room?.packetsReceived ?? 0)
        bytes_received = UInt64(counted.room?.bytesReceived ?? 0)
        media_runs = UInt64(counted.media.ticks)
        media_cpu_ns = counted.media.cpuTime.nanoseconds
        media_worst_run_ns = counted.media.worstTick.nanoseconds
        microphone_to_network_ms = counted.latency.microphoneToNetwork.milliseconds
        jitter_buffer_to_speaker_ms = counted.latency.pullToSpeaker.milliseconds
        half_round_trip_ms = counted.latency.halfRoundTrip.milliseconds
        followed_drift_ppm = counted.downlink.followedDriftPPM.map(Float.init) ?? .nan
    }

    private mutating func take(_ uplink: EngineStatistics.Uplink) {
        packets_sent = UInt64(uplink.packetsSent)
        bytes_sent = UInt64(uplink.bytesSent)
        packets_send_dropped = UInt64(uplink.packetsDropped)
        capture_gap_frames = UInt64(uplink.captureGapFrames)
        capture_overflow_frames = UInt64(uplink.captureOverflowFrames)
        input_level = uplink.inputLevel
        output_level = uplink.outputLevel
        speech_probability = uplink.speechProbability ?? .nan
        noise_level = uplink.noiseLevel ?? .nan
        echo_return_loss = uplink.echoReturnLoss ?? .nan
        echo_return_loss_enhancement = uplink.echoReturnLossEnhancement ?? .nan
    }

    private mutating func take(_ device: DeviceCounts) {
        playback_underrun_frames = UInt64(device.playback.underrunFrames)
        capture_xruns = UInt64(device.capture.xruns)
        playback_xruns = UInt64(device.playback.xruns)
    }
}

extension dv_talker_statistics {
    fileprivate init(_ stream: EngineStatistics.Stream) {
        self.init()
        synchronization_source = stream.synchronizationSource
        packets_received = stream.playout.packetsReceived
        packets_lost = UInt64(max(0, stream.playout.packetsLost))
        packets_late = stream.playout.packetsLate
        bytes_received = UInt64(stream.bytesReceived)
        played_frames = stream.playout.pulledSamples
        concealed_frames = stream.playout.concealedSamples
        jitter_ms = stream.jitter.milliseconds
        target_delay_ms = Optional(stream.targetDelay).milliseconds
        jitter_buffer_delay_ms = stream.jitterBufferDelay.milliseconds
        level = stream.audioLevel.map { -Float($0) } ?? .nan
    }
}

extension Optional<Duration> {
    /// NaN where it is not known.
    fileprivate var milliseconds: Float { map { Float($0.nanoseconds) / 1_000_000 } ?? .nan }
}
