/// Where streams stand that were sent and withdrawn, by their sources: as many as a participant has.
struct SentStreams: BitwiseCopyable {
    private var streams = InlineArray<4, RTPStreamStart?>(repeating: nil)
    private var next = 0

    subscript(source: UInt32) -> RTPStreamStart? { index(of: source).flatMap { streams[$0] } }

    /// Keeps a stream, in the place of the one kept longest where there is none for it.
    mutating func keep(_ stream: RTPStreamStart) {
        if let index = index(of: stream.synchronizationSource) { return streams[index] = stream }
        streams[next] = stream
        next = (next + 1) % streams.count
    }

    private func index(of source: UInt32) -> Int? {
        streams.indices.first { streams[$0]?.synchronizationSource == source }
    }
}
