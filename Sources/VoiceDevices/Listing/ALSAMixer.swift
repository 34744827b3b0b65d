internal import CALSA

extension ALSADevice {
    /// The controls that keep the card behind a PCM's name silent in a direction; none where sound can pass, and nil
    /// where there is no card behind it, as behind a sound server, or none with a mixer.
    ///
    /// Opens the card's control device for some milliseconds, changes nothing. Not real-time safe.
    package static func silencingControls(of name: String, _ direction: DeviceDirection) -> [MixerControl]? {
        var standard = DefaultCard()
        let card: String
        if let address = ALSACardAddress(pcm: name) {
            card = address.card
        } else if name == "default", case .card(let identifier?) = standard.look() {
            card = identifier
        } else {
            return nil
        }
        return ALSAMixer.controls(ofCard: card).map { MixerControl.silencing($0, direction) }
    }
}

/// Reads a card's mixer.
enum ALSAMixer {
    /// All controls of a card with a switch or a volume, by its number or identifier; nil where it has no mixer.
    static func controls(ofCard card: String) -> [MixerControl]? {
        var opened: OpaquePointer?
        guard unsafe snd_mixer_open(&opened, 0) == 0, let mixer = unsafe opened else { return nil }
        defer { unsafe snd_mixer_close(mixer) }
        guard unsafe snd_mixer_attach(mixer, "hw:\(card)") == 0,
            unsafe snd_mixer_selem_register(mixer, nil, nil) == 0,
            unsafe snd_mixer_load(mixer) == 0
        else { return nil }
        var controls: [MixerControl] = []
        var next = unsafe snd_mixer_first_elem(mixer)
        while let element = unsafe next {
            if unsafe snd_mixer_selem_is_active(element) != 0, let text = unsafe snd_mixer_selem_get_name(element) {
                let name = unsafe String(cString: text)
                for direction in [DeviceDirection.playback, .capture] {
                    let reader = direction == .playback ? MixerReader.playback : .capture
                    if let control = unsafe reader.read(element, name, direction) { controls.append(control) }
                }
            }
            unsafe next = snd_mixer_elem_next(element)
        }
        return controls
    }
}

/// The calls that read one direction of a mixer's element.
@safe
private struct MixerReader {
    let hasSwitch: (OpaquePointer?) -> CInt
    let hasVolume: (OpaquePointer?) -> CInt
    let hasChannel: (OpaquePointer?, snd_mixer_selem_channel_id_t) -> CInt
    let range: (OpaquePointer?, UnsafeMutablePointer<Int>?, UnsafeMutablePointer<Int>?) -> CInt
    let isOn: (OpaquePointer?, snd_mixer_selem_channel_id_t, UnsafeMutablePointer<CInt>?) -> CInt
    let volume: (OpaquePointer?, snd_mixer_selem_channel_id_t, UnsafeMutablePointer<Int>?) -> CInt

    static var playback: MixerReader {
        unsafe MixerReader(
            hasSwitch: snd_mixer_selem_has_playback_switch, hasVolume: snd_mixer_selem_has_playback_volume,
            hasChannel: snd_mixer_selem_has_playback_channel, range: snd_mixer_selem_get_playback_volume_range,
            isOn: snd_mixer_selem_get_playback_switch, volume: snd_mixer_selem_get_playback_volume)
    }

    static var capture: MixerReader {
        unsafe MixerReader(
            hasSwitch: snd_mixer_selem_has_capture_switch, hasVolume: snd_mixer_selem_has_capture_volume,
            hasChannel: snd_mixer_selem_has_capture_channel, range: snd_mixer_selem_get_capture_volume_range,
            isOn: snd_mixer_selem_get_capture_switch, volume: snd_mixer_selem_get_capture_volume)
    }

    /// The element's control in this direction; nil where it has neither switch nor volume there.
    func read(_ element: OpaquePointer, _ name: String, _ direction: DeviceDirection) -> MixerControl? {
        let isSwitched = unsafe hasSwitch(element) != 0
        let isAdjustable = unsafe hasVolume(element) != 0
        guard isSwitched || isAdjustable else { return nil }
        var minimum = 0
        var maximum = 0
        _ = unsafe range(element, &minimum, &maximum)
        var control = MixerControl(name, direction, isMuted: isSwitched, isAtMinimum: isAdjustable && maximum > minimum)
        for number in 0...SND_MIXER_SCHN_LAST.rawValue {
            let channel = snd_mixer_selem_channel_id_t(number)
            guard unsafe hasChannel(element, channel) != 0 else { continue }
            var on: CInt = 1
            if unsafe isSwitched && isOn(element, channel, &on) == 0 && on != 0 { control.isMuted = false }
            var level = maximum
            if unsafe isAdjustable && volume(element, channel, &level) == 0 && level != minimum {
                control.isAtMinimum = false
            }
        }
        return control
    }
}
