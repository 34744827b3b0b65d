package import VoiceRooms

/// How far somebody heard an utterance that was interrupted. See ``VoiceEngine/interrupt(_:awaitingReceiptsFor:)``.
public struct InterruptionReceipt: Equatable, Sendable {
    /// At whose loudspeaker; nil for this engine's own.
    public let listener: ParticipantID?
    /// The utterance, and how much of it was heard. Where that is not final, it is the last that was told before the
    /// time was over.
    public let heard: HeardUtterance

    /// A receipt.
    package init(listener: ParticipantID?, heard: HeardUtterance) {
        self.listener = listener
        self.heard = heard
    }
}

/// Collects the receipts of interruptions: who has heard something of what is said, and whether that is final.
///
/// Of a talker in the room there is one receipt, this engine's; of this engine's own speech one of each listener that
/// had told of the utterance. Who leaves, or has told nothing, is not waited for. Pure: whoever drives it says when the
/// time is over.
package struct ReceiptDesk {
    /// An interruption whose receipts are awaited.
    private struct Wait {
        /// Who was interrupted; nil for this engine.
        var talker: ParticipantID?
        /// Who was interrupted here has one receipt, under its own number.
        var receipts: [ParticipantID: HeardUtterance]
        var isRefused = false

        var isSettled: Bool { isRefused || receipts.values.allSatisfy(\.isFinal) }
    }

    /// The last that is known of what each talker says, and of how far each listener is in what this engine says.
    private var here: [ParticipantID: HeardUtterance] = [:]
    private var there: [ParticipantID: HeardUtterance] = [:]
    private var waits: [UInt64: Wait] = [:]
    private var lastNumber: UInt64 = 0

    /// A desk that knows of nobody.
    package init() {}

    /// Begins to wait for the receipts of an interruption of a participant, or of this engine where it is nil.
    /// ``takeSettled()`` has it at once where nothing is waited for.
    package mutating func open(_ talker: ParticipantID?) -> UInt64 {
        lastNumber += 1
        let known = talker.map { talker in here.filter { $0.key == talker } } ?? there
        waits[lastNumber] = Wait(talker: talker, receipts: known.filter { !$0.value.isFinal })
        return lastNumber
    }

    /// Takes how far an utterance of a talker was heard here.
    package mutating func take(_ heard: HeardUtterance, of talker: ParticipantID) {
        here[talker] = heard
        for number in waits.keys where waits[number]?.talker == talker { settle(number, talker, heard) }
    }

    /// Takes how far a listener has heard an utterance of this engine's.
    package mutating func take(_ heard: HeardUtterance, by listener: ParticipantID) {
        there[listener] = heard
        for number in waits.keys where waits[number]?.talker == nil { settle(number, listener, heard) }
    }

    private mutating func settle(_ number: UInt64, _ participant: ParticipantID, _ heard: HeardUtterance) {
        guard let known = waits[number]?.receipts[participant], !known.isFinal else { return }
        var latest = heard
        if latest.utterance != known.utterance {
            // The next one is heard: the last word on this one was lost.
            latest = known
            latest.isFinal = true
        }
        waits[number]?.receipts[participant] = latest
    }

    /// A participant has left: what it has told is all that it will.
    package mutating func leave(_ participant: ParticipantID) {
        here[participant] = nil
        there[participant] = nil
        for number in waits.keys { waits[number]?.receipts[participant]?.isFinal = true }
    }

    /// A talker could not be interrupted: what it says is heard on, so that no final word on it comes.
    package mutating func refuse(_ talker: ParticipantID) {
        for number in waits.keys where waits[number]?.talker == talker { waits[number]?.isRefused = true }
    }

    /// An interruption of which all is known, with its receipts in the order of the listeners.
    package mutating func takeSettled() -> (number: UInt64, receipts: [InterruptionReceipt])? {
        guard let number = waits.keys.sorted().first(where: { waits[$0]?.isSettled == true }) else { return nil }
        return (number, close(number))
    }

    /// Ends a wait, whose time is over, with what is known.
    package mutating func close(_ number: UInt64) -> [InterruptionReceipt] {
        guard let wait = waits.removeValue(forKey: number) else { return [] }
        return wait.receipts.sorted { $0.key < $1.key }.map { participant, heard in
            InterruptionReceipt(listener: wait.talker == nil ? participant : nil, heard: heard)
        }
    }

    /// The stay is over: what is open ends with what is known.
    package mutating func endAll() {
        for participant in Set(here.keys).union(there.keys) { leave(participant) }
    }
}
