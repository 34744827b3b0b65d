/// How loud the audio of a packet is, as its sender measured it (RFC 6464).
package struct AudioLevel: Equatable, Sendable, BitwiseCopyable {
    /// Whether the sender takes the packet for speech.
    package var voiceActivity: Bool
    /// How far below overload the level is, in dB: 0 is the loudest, 127 silence (-dBov).
    package var level: UInt8

    /// A level of 0 to 127 dB below overload; a larger number is taken as 127, digital silence.
    package init(voiceActivity: Bool, level: UInt8) {
        self.voiceActivity = voiceActivity
        self.level = min(level, 127)
    }

    /// Reads the one data byte of the extension element: the V flag, then seven bits of level (RFC 6464 section 3).
    package init(byte: UInt8) {
        voiceActivity = byte & 0x80 != 0
        level = byte & 0x7F
    }

    /// The one data byte of the extension element (RFC 6464 section 3).
    package var byte: UInt8 { (voiceActivity ? 0x80 : 0) | min(level, 127) }
}
