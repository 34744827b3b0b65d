/// What was told last of participants of whom no stream is left, until there is one again. A value of fixed size: of
/// more than a room has, those kept first are forgotten.
struct DepartedTalkers: BitwiseCopyable {
    private var participants = InlineArray<256, UInt32>(repeating: 0)
    private var told = InlineArray<256, StreamMember.Told>(repeating: StreamMember.Told())
    private var next = 0

    /// Keeps what was told of a participant, whose number is not 0.
    mutating func keep(_ told: StreamMember.Told, of participant: UInt32) {
        participants[next] = participant
        self.told[next] = told
        next = (next + 1) % participants.count
    }

    /// Takes what is kept of a participant; nil where nothing is.
    mutating func take(_ participant: UInt32) -> StreamMember.Told? {
        guard participant != 0 else { return nil }
        for index in participants.indices where participants[index] == participant {
            participants[index] = 0
            return told[index]
        }
        return nil
    }

    /// Forgets all: who comes now is somebody else.
    mutating func forget() { participants = InlineArray(repeating: 0) }
}
