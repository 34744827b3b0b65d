internal import VoiceDevices

/// Decodes sound piece by piece on a thread of its own, so that neither Swift's cooperative pool nor the media thread
/// waits for a disk or a codec. Holds one piece, however long the sound is.
actor SoundDecoder {
    /// Frames of 48 kHz that are decoded at a time: 100 ms.
    private static let pieceFrames = 4_800

    private nonisolated let thread = ControlThread(name: "voice-decode")
    private let sound: EncodedSound
    private var reader: AudioFileReader?

    init(_ sound: EncodedSound) { self.sound = sound }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    /// The next piece at 48 kHz; empty at the end.
    func next() throws(AudioFileError) -> [Float] {
        if reader == nil { reader = try AudioFileReader(sound) }
        var piece = [Float](repeating: 0, count: Self.pieceFrames)
        var room = piece.mutableSpan
        let count = try reader?.read(into: &room) ?? 0
        piece.removeLast(piece.count - count)
        return piece
    }
}
