import VoiceWire

/// Puts the packets of one sender after another on one continuous count of packets and one media timeline.
///
/// A new synchronization source, a jump in sequence numbers that the next packet confirms, or timestamps that contradict
/// the arrival begin another stream; it is spliced behind the last one, so that nothing that waits is lost.
struct StreamTimeline {
    struct Place: BitwiseCopyable {
        let sequence: Int64
        let position: Int64
        let timestamp: Int64
        let startsStream: Bool
    }

    private var source: UInt32?
    private var former: (source: UInt32, until: Int64)?
    private var sequences = SequenceUnwrapper()
    private var sequenceShift: Int64 = 0
    private var timestamps = TimestampUnwrapper()
    private var positionShift: Int64 = 0
    /// The newest packet placed.
    private(set) var newest: (sequence: Int64, position: Int64, frames: Int) = (0, 0, 0)
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
    /// A talkspurt that begins this much too late, after as long a silence, has been timed anew, frames (250 ms).
    private static let talkspurtLateness: Int64 = 12_000
    /// How long packets of the source before are refused, frames (2 s).
    private static let farewell: Int64 = 96_000

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
        var sequences = sequences
        let sequence = sequences.unwrap(header.sequenceNumber) + sequenceShift
        let step = sequence - newest.sequence
        guard step <= Self.largestDropout, step >= -Self.largestMisorder else {
            if let expected, expected == (source, header.sequenceNumber) {
                return splice(header, frames, arrival - baseline)
            }
            expected = (source, header.sequenceNumber &+ 1)
            return nil
        }
        expected = nil
        var timestamps = timestamps
        let timestamp = timestamps.unwrap(header.timestamp)
        let position = timestamp + positionShift
        let advance = position - newest.position
        if step > 0 {
            let overlaps = advance < Int64(newest.frames / 2) + (step - 1) * Int64(Frames.grain)
            let earliest = min(baseline, lastArrival - newest.position) - Self.largestLead
            let leads = arrival - position < earliest
            if overlaps || leads { return splice(header, frames, arrival - baseline) }
            if header.marker, isTimedAnew(position, arrival: arrival, baseline: baseline) {
                let due = max(newest.position + Int64(newest.frames), arrival - baseline)
                positionShift += due - position
                (self.sequences, self.timestamps) = (sequences, timestamps)
                newest = (sequence, due, frames)
                return Place(sequence: sequence, position: due, timestamp: timestamp, startsStream: false)
            }
            newest = (sequence, position, frames)
        } else if step < 0, advance > step * Int64(Frames.grain) {
            return nil
        }
        self.sequences = sequences
        self.timestamps = timestamps
        return Place(sequence: sequence, position: position, timestamp: timestamp, startsStream: false)
    }

    /// Whether a talkspurt's timestamp goes on as if there had been no silence before it: a sender that counts only what it
    /// sends. Taken at its word, the whole silence would be delay.
    private func isTimedAnew(_ position: Int64, arrival: Int64, baseline: Int64) -> Bool {
        arrival - lastArrival > Self.talkspurtLateness && arrival - position - baseline > Self.talkspurtLateness
    }

    private mutating func begin(_ header: RTPHeader, _ frames: Int) -> Place {
        source = header.synchronizationSource
        let sequence = sequences.unwrap(header.sequenceNumber)
        let timestamp = timestamps.unwrap(header.timestamp)
        newest = (sequence, timestamp, frames)
        return Place(sequence: sequence, position: timestamp, timestamp: timestamp, startsStream: true)
    }

    /// Moves what was told of arrivals: the clock that they are told on has jumped.
    mutating func shift(by frames: Int64) {
        lastArrival += frames
        if let former { self.former = (former.source, former.until + frames) }
    }

    private mutating func splice(_ header: RTPHeader, _ frames: Int, _ due: Int64) -> Place {
        source = header.synchronizationSource
        expected = nil
        sequences = SequenceUnwrapper()
        let sequence = newest.sequence + 1
        sequenceShift = sequence - sequences.unwrap(header.sequenceNumber)
        let timestamp = timestamps.unwrap(header.timestamp)
        let position = max(newest.position + Int64(newest.frames), due)
        positionShift = position - timestamp
        newest = (sequence, position, frames)
        return Place(sequence: sequence, position: position, timestamp: timestamp, startsStream: true)
    }
}
