/// What a microphone in a room records, and what of it is echo and what is talk; 48 kHz, all of one length. For
/// preparing recordings: allocates.
package struct RoomRecording: Sendable {
    private static let block = 480

    /// All that the microphone records.
    package let microphone: [Float]
    /// The echo in it.
    package let echo: [Float]
    /// The talk in it that is to be known.
    package let talk: [Float]

    /// Plays and says whole sounds in a room. All have the same length, a multiple of 10 ms.
    ///
    /// - Parameters:
    ///   - played: what the loudspeaker is given.
    ///   - near: all that is said at the near end.
    ///   - talk: what of that is to be known of the microphone as ``talk``.
    ///   - change: called before each 10 ms, with the number of their first frame.
    package init(
        in room: inout RoomAcoustics, through path: inout CapturePath, played: [Float], near: [Float], talk: [Float],
        change: (_ start: Int, inout RoomAcoustics, inout CapturePath) -> Void
    ) {
        precondition(played.count == near.count && near.count == talk.count, "one length for all")
        precondition(played.count.isMultiple(of: Self.block), "a multiple of 10 ms")
        var heard = [Float](repeating: 0, count: played.count)
        let nearGain = room.nearGain
        var (echoed, said) = (heard, talk.map { $0 * nearGain })
        for start in stride(from: 0, to: played.count, by: Self.block) {
            let range = start..<start + Self.block
            change(start, &room, &path)
            var allHeard = heard.mutableSpan
            var allEchoed = echoed.mutableSpan
            var allSaid = said.mutableSpan
            var heardNow = allHeard._mutatingExtracting(range)
            var echoedNow = allEchoed._mutatingExtracting(range)
            var saidNow = allSaid._mutatingExtracting(range)
            room.process(
                speaker: played.span.extracting(range), near: near.span.extracting(range), into: &heardNow,
                echo: &echoedNow)
            path.process(microphone: &heardNow, echo: &echoedNow, near: &saidNow)
        }
        (microphone, echo, self.talk) = (heard, echoed, said)
    }
}
