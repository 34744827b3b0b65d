internal import CDuplexVoice
internal import VoiceEngine
internal import VoiceRealtime

/// The object behind a `dv_far_end`.
final class FarEndObject: HandledObject {
    static var handleKind: UInt8 { HandleKind.farEnd }

    let farEnd: LocalFarEnd
    private let access: FarEndAccess

    init(_ farEnd: LocalFarEnd) {
        self.farEnd = farEnd
        access = farEnd.access
    }

    /// As ``LocalFarEnd/offer(_:rate:utterance:isLast:)-(Span<Float>,_,_,_)``.
    @_noLocks @_noAllocation
    func offer(
        _ samples: SoundSamples, _ rate: UInt32, _ utterance: UInt32, _ isLast: UInt32,
        _ taken: UnsafeMutablePointer<Int>?
    ) -> dv_status {
        let soundRate: SoundRate
        switch rate {
        case 16_000: soundRate = .hertz16000
        case 24_000: soundRate = .hertz24000
        case 48_000: soundRate = .hertz48000
        default: return DV_INVALID_ARGUMENT
        }
        guard utterance != 0, isLast <= 1 else { return DV_INVALID_ARGUMENT }
        let count = access.offer(samples, rate: soundRate, utterance: utterance, isLast: isLast == 1)
        if let taken = unsafe taken { unsafe taken.pointee = count }
        return DV_OK
    }

    /// As ``LocalFarEnd/takeNearEnd(into:)``.
    @_noLocks @_noAllocation
    func take(
        _ samples: UnsafeMutablePointer<Float>, _ frames: Int, _ taken: UnsafeMutablePointer<Int>,
        _ time: UnsafeMutablePointer<Int64>?
    ) -> dv_status {
        var span = unsafe MutableSpan(_unsafeStart: samples, count: frames)
        let take = access.take(into: &span)
        unsafe taken.pointee = take.frames
        if let time = unsafe time { unsafe time.pointee = take.nanoseconds }
        return DV_OK
    }
}
