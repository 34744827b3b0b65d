import VoiceCoding
import VoicePlayout

extension OpusDecoder: SpeechDecoder {
    /// The playout buffer counts refusals; why is the codec's own word.
    public typealias DecodingError = OpusError
}
