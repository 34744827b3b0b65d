/// Continues the sound in a gap by the decoder's own concealment, on a copy of its state: what the gap stands for is
/// not known yet.
struct Concealer: ~Copyable {
    /// How the sound goes on: what was asked for, and what of a packet's length was not.
    var sound = SoundStorage(capacity: PlayoutBuffer.longestPacketFrames)
    /// Where made-up sound that is not yet used lies.
    private var spare = 0..<0
    /// Whether the decoder's true state is saved.
    private var hasSavedState = false

    /// The least the decoder is asked to make up: 20 ms. Opus's speech layer makes up no less than 10 and drops what
    /// was not asked for, so that the next piece would not join; and each call is a frame to it, after which it fades
    /// more (libopus 1.3, `opus_decode_frame` and `silk_PLC_conceal`). Over pieces of 10 ms this gains 0.01 PLCMOS at
    /// 10 to 30 % of loss.
    private static let leastAsked = 960
    /// How far sound is continued beyond a gap, for the phase search and the cross-fade: 12.5 ms.
    private static let continuationFrames = 600

    mutating func reset() { (spare, hasSavedState) = (0..<0, false) }

    /// Writes what would follow in a gap to the front of ``sound``, faded as the gap's age asks.
    ///
    /// The decoder makes sound up in whole packets' lengths; what is not used stays behind it, for the next time.
    mutating func extend<Decoder: SpeechDecoder & ~Copyable>(
        _ frames: Int, _ fade: GapFade, hasSound: Bool, _ decoder: inout Decoder
    ) {
        if !fade.isSilent, !hasSavedState {
            decoder.saveState(at: SavedState.beforeGuess)
            hasSavedState = true
        }
        sound.move(spare, to: 0)
        let known = spare.count
        let missing = frames - known
        let asked = missing > 0 ? max(Frames.wholeGrains(missing), Self.leastAsked) : 0
        guard !fade.isSilent, hasSound,
            asked == 0 || Self.conceal(asked, into: &sound, at: known, &decoder)
        else {
            for sample in 0..<frames { sound[sample] = 0 }
            spare = 0..<0
            return
        }
        spare = frames..<known + asked
        guard fade.gain(ahead: frames) < 1 else { return }
        for sample in 0..<frames { sound[sample] *= fade.gain(ahead: sample) }
    }

    /// Ends a gap for the sound that follows: its continuation is made, and the decoder goes back to its true state.
    ///
    /// - Returns: What the joint to the sound that follows has to know.
    mutating func end<Decoder: SpeechDecoder & ~Copyable>(_ gap: GapEnd?, _ decoder: inout Decoder) -> Joint {
        guard let gap else { return Joint() }
        var joint = Joint()
        joint.followsGap = gap.hasSound
        joint.madeUpFrames = gap.fade.gain(ahead: 0) == 1 ? gap.fade.frames : -1
        if joint.followsGap { extend(Self.continuationFrames, gap.fade, hasSound: gap.hasSound, &decoder) }
        if hasSavedState { decoder.restoreState(from: SavedState.beforeGuess) }
        reset()
        return joint
    }

    /// Decodes what follows to the front of ``sound`` and takes the decoder back; returns its frames, or nil where it
    /// refused.
    mutating func lookAhead<Decoder: SpeechDecoder & ~Copyable>(
        _ lead: PacketPlan.Lead, from store: borrowing PacketStore, _ decoder: inout Decoder
    ) -> Int? {
        decoder.saveState(at: SavedState.beforeGuess)
        defer { decoder.restoreState(from: SavedState.beforeGuess) }
        if let frames = lead.redundantFrames {
            return sound.decodeRedundancy(lead.packet, of: store, frames: frames, &decoder)
        }
        return sound.decode(lead.packet, of: store, &decoder).map { min($0, PacketPlan.Lead.longest) }
    }

    /// Has the decoder conceal; false if it refused.
    static func conceal<Decoder: SpeechDecoder & ~Copyable>(
        _ frames: Int, into room: inout SoundStorage, at start: Int, _ decoder: inout Decoder
    ) -> Bool {
        do {
            var span = room.mutableSpan(start..<start + frames)
            return try decoder.conceal(into: &span) == frames
        } catch {
            return false
        }
    }
}

extension SoundStorage {
    /// Decodes a packet that waits to the front; returns its frames, or nil if the decoder refused.
    mutating func decode<Decoder: SpeechDecoder & ~Copyable>(
        _ sequence: Int64, of store: borrowing PacketStore, _ decoder: inout Decoder
    ) -> Int? {
        do {
            var span = mutableSpan(0..<capacity)
            return try decoder.decode(store.payload(sequence), into: &span)
        } catch {
            return nil
        }
    }

    /// Decodes the redundancy of a packet that waits to the front; returns the frames, or nil.
    mutating func decodeRedundancy<Decoder: SpeechDecoder & ~Copyable>(
        _ sequence: Int64, of store: borrowing PacketStore, frames: Int, _ decoder: inout Decoder
    ) -> Int? {
        do {
            var span = mutableSpan(0..<frames)
            return try decoder.decodeRedundancy(of: store.payload(sequence), into: &span)
        } catch {
            return nil
        }
    }
}
