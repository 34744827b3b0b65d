internal import VoicePartner

/// Has one recogniser serve many clients, one turn after the other, in the order in which they come.
struct RecogniserDesk: Sendable {
    private let recogniser: SerialRecogniser

    init(_ recogniser: any Recogniser) { self.recogniser = SerialRecogniser(recogniser) }

    /// The text of a turn, mono at a rate in Hz. Cancelled: nobody wants it any more.
    func recognise(_ samples: [Int16], rate: Int) async -> Result<String, PartnerError> {
        do throws(PartnerError) {
            let portions = try RecogniserSound.portions(of: samples, rate: rate)
            let (sound, continuation) = AsyncStream.makeStream(of: [Float].self)
            portions.forEach { continuation.yield($0) }
            continuation.finish()
            return .success(try await recogniser.recognise(sound) { _ in })
        } catch {
            return .failure(error)
        }
    }
}
