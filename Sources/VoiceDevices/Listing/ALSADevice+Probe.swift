internal import CALSA

extension ALSADevice {
    /// Whether every PCM that `configuration` names can be opened now: opens and closes each, without ports. Never
    /// plays or records. Throws what stands in the way. Blocks, as ``start(capture:playback:events:)`` does while it
    /// opens, for at most 5 s for each, and 15 s for one that has been slow before; not real-time safe.
    public static func probe(_ configuration: ALSADeviceConfiguration) throws(DeviceError) {
        let playback = configuration.playbackName.map { (name: $0, direction: DeviceDirection.playback) }
        let capture = configuration.captureName.map { (name: $0, direction: DeviceDirection.capture) }
        for (name, direction) in [playback, capture].compactMap(\.self) {
            try ALSAOpening.run(name, direction, discard: { _ in }) { () throws(DeviceError) in
                try ALSADevice.tryOpening(name, direction)
            }
        }
    }

    private static func tryOpening(_ name: String, _ direction: DeviceDirection) throws(DeviceError) {
        var opened: OpaquePointer?
        let code = direction == .capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK
        let error = unsafe dv_pcm_open(&opened, name, code)
        guard error == 0, let pcm = unsafe opened else {
            throw DeviceError(alsa: error, name: name, step: "opening", isDenied: { SoundNodeAccess.isDenied() })
        }
        unsafe snd_pcm_close(pcm)
    }
}
