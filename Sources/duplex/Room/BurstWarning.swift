import VoiceRooms

/// Tells once, and not before it matters, that the kernel keeps little of a burst for a room server.
///
/// What comes while the server's thread waits for a processor is kept by the kernel, up to a number of bytes; the rest
/// is lost. With few participants, in all rooms together, that is a second of speech and more.
struct BurstWarning {
    /// How long everybody's speech is to be kept for at least, milliseconds: beside a load of ten a processor, the
    /// thread has been late by more than 90 (bench/RESULTS.md, abuse).
    private static let enough = 250
    /// What the kernel counts for a packet of voice, bytes: the buffer of 2 KiB that a network card writes it into and
    /// what describes it (`truesize` of an `sk_buff`). Over loopback it is a third of that.
    private static let packetBytes = 2_304
    /// Of a packet of a participant who speaks, milliseconds.
    private static let packetInterval = 20

    /// Bytes that the kernel keeps where those are fewer than asked for; nil where nothing is to be told.
    private let kept: Int?
    private let wanted: Int
    private var participants = 0
    private var isTold = false

    /// - Parameters:
    ///   - kept: `RoomServer.scarceSocketBuffer`.
    ///   - wanted: `RoomServer.socketBufferSize`.
    init(kept: Int?, wanted: Int) {
        self.kept = kept
        self.wanted = wanted
    }

    /// Follows who comes and goes; what there is to be told now.
    mutating func handle(_ event: RoomDirectoryEvent) -> String? {
        switch event {
        case .joined: participants += 1
        case .left: participants = max(0, participants - 1)
        default: return nil
        }
        guard let kept, !isTold, participants > 0 else { return nil }
        // The kernel takes twice what is asked for as its bound (socket(7)).
        let milliseconds = 2 * kept / Self.packetBytes * Self.packetInterval / participants
        guard milliseconds < Self.enough else { return nil }
        isTold = true
        return
            "note: with \(participants.counted("participant")) the kernel keeps some \(milliseconds) ms of what they say while this machine is too busy to run the server; what comes later is lost, and heard as a gap. 'sysctl -w net.core.rmem_max=\(wanted)' as root has it keep more, once the server is started anew"
    }
}
