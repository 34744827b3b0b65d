internal import CDuplexVoice
internal import VoiceProcessing

extension ProcessingSettings {
    /// The settings that a C structure asks for.
    init(_ given: dv_processor_settings) throws(Failure) {
        self.init()
        echo = try Self.choice(given.echo, "echo")
        noise = try Self.choice(given.noise, "noise")
        noiseMethod = try Self.choice(given.noise_method, "noise_method")
        voiceDetection = try Self.choice(given.voice_detection, "voice_detection")
        gain = Gain(
            mode: try Self.choice(given.gain, "gain"),
            targetLevel: given.target_level == 0 ? Gain.conversation.targetLevel : Int8(clamping: given.target_level),
            maximumGain: given.maximum_gain == 0 ? Gain.conversation.maximumGain : Int8(clamping: given.maximum_gain),
            fixedGain: Int8(clamping: given.fixed_gain))
        guard given.high_pass <= 1 else { throw .argument("settings.high_pass is \(given.high_pass); take 0 or 1") }
        highPass = given.high_pass == 1
        do throws(ProcessingError) { self = try validated() } catch { throw Failure(error) }
    }

    /// One of an enumeration whose numbers are the header's, as a test checks.
    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ given: UInt32, _ field: String
    ) throws(Failure) -> Choice where Choice.RawValue == UInt8 {
        guard let raw = UInt8(exactly: given), let choice = Choice(rawValue: raw) else {
            throw .argument("settings.\(field) is \(given); take 0 to \(Choice.allCases.count - 1)")
        }
        return choice
    }

    /// As a C structure.
    var cSettings: dv_processor_settings {
        var settings = dv_processor_settings()
        settings.size = UInt32(MemoryLayout<dv_processor_settings>.size)
        settings.echo = UInt32(echo.rawValue)
        settings.noise = UInt32(noise.rawValue)
        settings.noise_method = UInt32(noiseMethod.rawValue)
        settings.gain = UInt32(gain.mode.rawValue)
        settings.target_level = Int32(gain.targetLevel)
        settings.maximum_gain = Int32(gain.maximumGain)
        settings.fixed_gain = Int32(gain.fixedGain)
        settings.high_pass = highPass ? 1 : 0
        settings.voice_detection = UInt32(voiceDetection.rawValue)
        return settings
    }

    /// The presets, by the header's numbers.
    static func preset(_ number: UInt32) -> ProcessingSettings? {
        switch Int(number) {
        case DV_PRESET_BYPASS: .bypass
        case DV_PRESET_VOICE_AGENT: .voiceAgent
        case DV_PRESET_VOICE_CHAT: .voiceChat
        case DV_PRESET_HEADSET: .headset
        default: nil
        }
    }
}
