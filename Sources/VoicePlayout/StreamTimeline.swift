internal import VoiceWire

/// Puts the packets of one sender after another on one continuous count of packets and one media timeline.
///
/// A new synchronization source, a jump in sequence numbers that the next packet confirms, or timestamps that
/// contradict the arrival begin another stream; it is spliced behind the last one, so that nothing that waits is lost.
///
/// A leap of the timestamps is believed only where the next packet agrees with it. Where that goes on from before the
/// leap instead, the packet between was wrong: the timeline is as before, and the packet belongs where its sequence
/// number says.
struct StreamTimeline {
    struct Place: BitwiseCopyable {
        let sequence: Int64
        let position: Int64
        let timestamp: Int64
        let startsStream: Bool
        /// Where the packet before belongs, if it was placed by a timestamp that this one contradicts.
        var corrected: (sequence: Int64, position: Int64)?
    }

    /// How timestamps become positions.
    private struct Mapping: BitwiseCopyable {
        var sequences = SequenceUnwrapper()
        var sequenceShift: Int64 = 0
        var timestamps = TimestampUnwrapper()
        var positionShift: Int64 = 0
        /// The newest packet placed.
        var newest: (sequence: Int64, position: Int64, frames: Int) = (0, 0, 0)

        /// How far a packet is from where it would be if the sender had sent without a pause since the newest one.
        func deviation(of header: RTPHeader) -> Int64 {
            var (sequences, timestamps) = (sequences, timestamps)
            let step = sequences.unwrap(header.sequenceNumber) + sequenceShift - newest.sequence
            let advance = timestamps.unwrap(header.timestamp) + positionShift - newest.position
            return abs(advance - step * Int64(newest.frames))
        }
    }

    private var source: UInt32?
    private var former: (source: UInt32, until: Int64)?
    private var mapping = Mapping()
    /// The mapping before the newest packet, where that leapt.
    private var doubted: Mapping?
    /// When a packet last came, on the pull clock.
    private var lastArrival: Int64 = 0
    /// The packet that would confirm a jump.
    private var expected: (source: UInt32, sequenceNumber: UInt16)?

    /// Sequence numbers that may be lost in a row, and that a packet may be old (RFC 3550, appendix A.1: MAX_DROPOUT;
    /// its MAX_MISORDER is too small for 2.5 ms packets).
    private static let largestDropout: Int64 = 3000
    private static let largestMisorder: Int64 = 1000
    /// A packet may be this much earlier than the one before it or than the baseline, frames (1 s).
    private static let largestLead: Int64 = 48_000
    /// A sender runs ahead of the baseline by no more than this, frames (60 s): more than may wait (`packetCapacity`
    /// packets of 60 ms), so that timestamps that rise too fast end in a splice and not in hours of silence.
    private static let largestRunAhead: Int64 = 2_880_000
    /// A talkspurt that begins this much too late, after as long a silence, has been timed anew, frames (250 ms).
    private static let talkspurtLateness: Int64 = 12_000
    /// How long packets of the source before are refused, frames (2 s).
    private static let farewell: Int64 = 96_000

    /// The newest packet placed.
    var newest: (sequence: Int64, position: Int64, frames: Int) { mapping.newest }

    /// Whether the first packet has come.
    var hasBegun: Bool { source != nil }

    /// Where a packet belongs, or nil if it is not to be played.
    ///
    /// - Parameters:
    ///   - arrival: On the pull clock.
    ///   - baseline: The present smallest offset of arrivals against the timeline.
    mutating func place(_ header: RTPHeader, frames: Int, arrival: Int64, baseline: Int64) -> Place? {
        defer { lastArrival = arrival }
        guard let source else { return begin(header, frames) }
        if header.synchronizationSource != source {
            if let former, former.source == header.synchronizationSource, arrival < former.until { return nil }
            former = (source, arrival + Self.farewell)
            return splice(header, frames, arrival - baseline)
        }
        var sequences = mapping.sequences
        let sequence = sequences.unwrap(header.sequenceNumber) + mapping.sequenceShift
        let step = sequence - newest.sequence
        guard step <= Self.largestDropout, step >= -Self.largestMisorder else {
            if let expected, expected == (source, header.sequenceNumber) {
                return splice(header, frames, arrival - baseline)
            }
            expected = (source, header.sequenceNumber &+ 1)
            return nil
        }
        expected = nil
        guard step > 0 else { return placeOld(header, sequence, sequences, step: step) }
        let corrected = correctNewest(header, step: step, arrival: arrival, baseline: baseline)
        let before = mapping
        var timestamps = mapping.timestamps
        let timestamp = timestamps.unwrap(header.timestamp)
        var position = timestamp + mapping.positionShift
        let advance = position - newest.position
        let overlaps = advance < Int64(newest.frames / 2) + (step - 1) * Int64(Frames.grain)
        if overlaps || isTooEarly(position, after: newest.position, arrival: arrival, baseline: baseline) {
            let place = splice(header, frames, arrival - baseline)
            doubted = before
            return place
        }
        if header.marker, isTimedAnew(position, arrival: arrival, baseline: baseline) {
            position = max(newest.position + Int64(newest.frames), arrival - baseline)
            mapping.positionShift = position - timestamp
            doubted = nil
        } else {
            doubted = mapping.deviation(of: header) > Int64(newest.frames / 2) ? before : nil
        }
        (mapping.sequences, mapping.timestamps) = (sequences, timestamps)
        mapping.newest = (sequence, position, frames)
        return Place(
            sequence: sequence, position: position, timestamp: timestamp, startsStream: false, corrected: corrected)
    }

    /// Where a packet belongs that is not newer than the newest.
    private mutating func placeOld(
        _ header: RTPHeader, _ sequence: Int64, _ sequences: SequenceUnwrapper, step: Int64
    ) -> Place? {
        var timestamps = mapping.timestamps
        let timestamp = timestamps.unwrap(header.timestamp)
        let position = timestamp + mapping.positionShift
        if step < 0, position - newest.position > step * Int64(Frames.grain) { return nil }
        (mapping.sequences, mapping.timestamps) = (sequences, timestamps)
        return Place(sequence: sequence, position: position, timestamp: timestamp, startsStream: false)
    }

    /// Goes back to the mapping before the newest packet's leap, if a packet fits that better; returns where the newest
    /// one then belongs.
    private mutating func correctNewest(
        _ header: RTPHeader, step: Int64, arrival: Int64, baseline: Int64
    ) -> (sequence: Int64, position: Int64)? {
        guard let doubted, doubted.deviation(of: header) < mapping.deviation(of: header) else { return nil }
        var timestamps = doubted.timestamps
        let position = timestamps.unwrap(header.timestamp) + doubted.positionShift
        // It may fit neither mapping.
        guard !isTooEarly(position, after: doubted.newest.position, arrival: arrival, baseline: baseline) else {
            return nil
        }
        self.doubted = nil
        (mapping.timestamps, mapping.positionShift) = (doubted.timestamps, doubted.positionShift)
        mapping.newest.position = max(
            position - step * Int64(newest.frames), doubted.newest.position + Int64(doubted.newest.frames))
        return (newest.sequence, newest.position)
    }

    /// Whether a packet at this position came earlier than any sender sends it.
    private func isTooEarly(_ position: Int64, after newest: Int64, arrival: Int64, baseline: Int64) -> Bool {
        let lead = min(baseline, lastArrival - newest) - (arrival - position)
        return lead > Self.largestLead || baseline - (arrival - position) > Self.largestRunAhead
    }

    /// Whether a talkspurt's timestamp goes on as if there had been no silence before it: a sender that counts only
    /// what it sends. Taken at its word, the whole silence would be delay.
    private func isTimedAnew(_ position: Int64, arrival: Int64, baseline: Int64) -> Bool {
        arrival - lastArrival > Self.talkspurtLateness && arrival - position - baseline > Self.talkspurtLateness
    }

    private mutating func begin(_ header: RTPHeader, _ frames: Int) -> Place {
        source = header.synchronizationSource
        let sequence = mapping.sequences.unwrap(header.sequenceNumber)
        let timestamp = mapping.timestamps.unwrap(header.timestamp)
        mapping.newest = (sequence, timestamp, frames)
        return Place(sequence: sequence, position: timestamp, timestamp: timestamp, startsStream: true)
    }

    /// Moves what was told of arrivals: the clock that they are told on has jumped.
    mutating func shift(by frames: Int64) {
        lastArrival += frames
        if let former { self.former = (former.source, former.until + frames) }
    }

    private mutating func splice(_ header: RTPHeader, _ frames: Int, _ due: Int64) -> Place {
        source = header.synchronizationSource
        (expected, doubted) = (nil, nil)
        mapping.sequences = SequenceUnwrapper()
        let sequence = newest.sequence + 1
        mapping.sequenceShift = sequence - mapping.sequences.unwrap(header.sequenceNumber)
        let timestamp = mapping.timestamps.unwrap(header.timestamp)
        let position = max(newest.position + Int64(newest.frames), due)
        mapping.positionShift = position - timestamp
        mapping.newest = (sequence, position, frames)
        return Place(sequence: sequence, position: position, timestamp: timestamp, startsStream: true)
    }
}
