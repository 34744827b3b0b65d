internal import VoiceRooms

/// The streams of others that are played here. What changes of them is answered by commands to the media thread.
struct PlayedStreams {
    private var byPublisher: [ParticipantID: [StreamAssignment]] = [:]
    private var generations: [StreamID: StreamGeneration] = [:]
    /// Those that are muted by their publisher: nothing is to be expected on them.
    private var muted: Set<StreamID> = []

    /// Of one participant.
    subscript(publisher: ParticipantID) -> [StreamAssignment] { byPublisher[publisher, default: []] }

    var publishers: Dictionary<ParticipantID, [StreamAssignment]>.Keys { byPublisher.keys }

    func isMuted(_ stream: StreamID) -> Bool { muted.contains(stream) }

    /// Who publishes a stream; nil where it is not played.
    func publisher(of stream: StreamID) -> ParticipantID? {
        byPublisher.first { $0.value.contains { $0.stream == stream } }?.key
    }

    /// Who publishes each synchronization source.
    var talkers: [UInt32: ParticipantID] {
        var talkers: [UInt32: ParticipantID] = [:]
        for (participant, streams) in byPublisher {
            for stream in streams { talkers[stream.synchronizationSource] = participant }
        }
        return talkers
    }

    private func source(of stream: StreamID) -> UInt32? {
        byPublisher.values.joined().first { $0.stream == stream }?.synchronizationSource
    }

    // MARK: Coming and going

    mutating func begin(_ stream: PublishedStream, of publisher: ParticipantID) -> MediaCommand {
        let assignment = stream.assignment
        let isMuted = !stream.mute.isEmpty
        byPublisher[publisher, default: []].append(assignment)
        generations[assignment.stream] = StreamGeneration(stream.generation)
        if isMuted { muted.insert(assignment.stream) }
        return .addStream(
            synchronizationSource: assignment.synchronizationSource, participant: publisher.rawValue, isMuted: isMuted,
            generation: stream.generation)
    }

    mutating func end(_ stream: StreamID, of publisher: ParticipantID) -> MediaCommand? {
        guard let index = self[publisher].firstIndex(where: { $0.stream == stream }) else { return nil }
        let source = byPublisher[publisher]?.remove(at: index).synchronizationSource
        generations[stream] = nil
        muted.remove(stream)
        return source.map { .removeStream(synchronizationSource: $0) }
    }

    mutating func forget(_ publisher: ParticipantID) { byPublisher[publisher] = nil }

    mutating func forgetConditions() {
        generations = [:]
        muted = []
    }

    // MARK: What changes

    /// A publisher mutes or unmutes a stream: one that is muted sends nothing, and has not stalled.
    mutating func setMuted(_ isMuted: Bool, _ stream: StreamID) -> MediaCommand? {
        guard muted.contains(stream) != isMuted else { return nil }
        if isMuted { muted.insert(stream) } else { muted.remove(stream) }
        return source(of: stream).map { .setStreamMuted(isMuted, synchronizationSource: $0) }
    }

    /// Changes what is known of a stream's generations. Where another is in force then, what waits of the ones before
    /// is dropped.
    mutating func change(_ stream: StreamID, _ body: (inout StreamGeneration) -> Void) -> MediaCommand? {
        guard var generation = generations[stream] else { return nil }
        let before = generation.inForce
        body(&generation)
        generations[stream] = generation
        guard generation.inForce != before else { return nil }
        return source(of: stream).map { .flush(generation: generation.inForce, synchronizationSource: $0) }
    }

    /// No answer to an interruption of ours comes any more.
    mutating func forgetUnanswered() -> [MediaCommand] {
        generations.keys.sorted().compactMap { change($0) { $0.forgetUnanswered() } }
    }
}
