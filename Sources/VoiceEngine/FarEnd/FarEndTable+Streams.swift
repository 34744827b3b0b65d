internal import VoiceRealtime

/// The streams that apps feed: far ends whose queue goes to an encoder and not to the mix.
extension FarEndTable {
    /// Has the streams that apps feed take their next `frames`, while the microphone's block was at the ADC.
    mutating func feedStreams(
        _ frames: Int, adcTime: MonotonicTime, _ clock: RunClock, to outlet: inout PacketOutlet
    ) {
        unsafe forEachStream { farEnd, stream in
            unsafe stream.pointee.take(frames, from: farEnd.queue, adcTime: adcTime, clock, to: &outlet)
        }
    }

    /// Sends what a far end says as this stream from now on.
    mutating func publish(_ start: RTPStreamStart) {
        guard let farEnd = farEnd(start.line), let stream = unsafe farEnd.stream else { return }
        unsafe stream.pointee.publish(start.following(sentStreams[start.synchronizationSource]))
    }

    /// Sends nothing more of a stream.
    mutating func stopStream(_ line: UInt64) {
        if let farEnd = farEnd(line) { stopStream(of: farEnd) }
    }

    /// Sends nothing more of a far end's stream, and keeps where that stands for the next of the same source.
    mutating func stopStream(of farEnd: FarEndHandle) {
        if let last = unsafe farEnd.stream?.pointee.stopPublishing() { sentStreams.keep(last) }
    }

    /// A stream was interrupted: what waits of it is dropped, and what is queued from now on is of this generation.
    mutating func beginStream(generation: UInt32, of line: UInt64) {
        guard let farEnd = farEnd(line), let stream = unsafe farEnd.stream else { return }
        farEnd.cells.interrupt()
        unsafe stream.pointee.begin(generation: generation)
    }

    // MARK: Reports

    /// Under which sources they are being sent.
    var fedSources: FedSources {
        mutating get {
            var sources = FedSources()
            unsafe forEachStream { _, stream in
                if let source = unsafe stream.pointee.source { sources.append(source) }
            }
            return sources
        }
    }

    /// Takes what a listener says of them, in the order of ``fedSources``.
    mutating func take(_ words: FedWords, arrival: Duration) {
        var index = 0
        unsafe forEachStream { _, stream in
            guard unsafe stream.pointee.source != nil, index < words.count else { return }
            if let word = words[index] { unsafe stream.pointee.take(word, arrival: arrival) }
            index += 1
        }
    }

    /// Sends a report of each of which something was sent.
    mutating func sendReports(through reports: inout ReportExchange, to outlet: inout PacketOutlet, now: MonotonicTime)
    {
        unsafe forEachStream { _, stream in
            unsafe stream.pointee.sendReport(through: &reports, to: &outlet, now: now)
        }
    }

    /// How many listeners report of that stream of which most do.
    var mostReporters: Int {
        mutating get {
            var most = 0
            unsafe forEachStream { _, stream in
                most = unsafe max(most, stream.pointee.reports.listeners.count)
            }
            return most
        }
    }

    /// What is counted of each.
    var outgoingCounts: OutgoingCountsTable {
        mutating get {
            var table = OutgoingCountsTable(unused: OutgoingCounts())
            unsafe forEachStream { farEnd, stream in
                table.append(unsafe stream.pointee.counts(of: farEnd.number))
            }
            return table
        }
    }

    private mutating func forEachStream(_ body: (FarEndHandle, UnsafeMutablePointer<StreamSender>) -> Void) {
        guard farEndCount > 0 else { return }
        for index in farEnds.indices {
            if let farEnd = farEnds[index], let stream = unsafe farEnd.stream { unsafe body(farEnd, stream) }
        }
    }
}
