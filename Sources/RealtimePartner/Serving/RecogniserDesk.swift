internal import VoicePartner

/// Has one recogniser serve many clients, one turn after the other, in the order in which they come.
actor RecogniserDesk {
    private let recogniser: any Recogniser
    private var last: Task<Void, Never>?

    init(_ recogniser: any Recogniser) { self.recogniser = recogniser }

    /// The text of a turn, mono at a rate in Hz. Cancelled: nobody wants it any more.
    func recognise(_ samples: [Int16], rate: Int) async -> Result<String, PartnerError> {
        let before = last
        let task = Task { [recogniser] in
            await before?.value
            return await Self.recognise(samples, rate: rate, by: recogniser)
        }
        last = Task { _ = await task.value }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private nonisolated static func recognise(
        _ samples: [Int16], rate: Int, by recogniser: any Recogniser
    ) async -> Result<String, PartnerError> {
        guard !Task.isCancelled else { return .success("") }
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
