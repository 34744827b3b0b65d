internal import VoiceCoding
internal import VoiceWire

/// RTCP on the media thread: takes what others report, decides when to report, and writes it (RFC 3550, section 6).
///
///     receive ring ─► reports about our streams ─► StreamReports of each: statistics, SenderAdaptation
///                └──► sender reports of others ─► their ReceptionStatistics ─┐
///     send ring  ◄── SR or RR, loss patterns, CNAME ◄────────────────────────┘  about once a second
///
/// Reports travel as RTP does, on the same port (RFC 5761), and are forwarded by the room. Their wall clock is the
/// monotonic one, as RFC 3550, section 4, allows. No goodbye is sent: the room tells who leaves, and that reliably.
struct ReportExchange: BitwiseCopyable, Sendable {
    /// What is counted.
    struct Statistics: BitwiseCopyable, Sendable {
        var reportsSent = 0
        var reportsReceived = 0
        /// Those from more than one sender included.
        var reportsMalformed = 0
        /// Received, of our stream, and weighed; those that came too soon after another of the same listener are not.
        var reportsWeighed = 0
        /// Blocks of extended reports that were looked at, and patterns that were read of them.
        var blocksSeen = 0
        var patternsRead = 0
    }

    /// A report is no longer than what any path carries whole (RFC 9000, section 14.1).
    private static let mostBytes = 1_200
    /// A sender report with one block, a name and a loss pattern: what is expected before the first.
    private static let usualBytes = 120
    /// As whom this engine reports; nil outside a room.
    private(set) var source: UInt32?
    /// What listeners say of the microphone's stream.
    private(set) var microphone: StreamReports
    private(set) var statistics = Statistics()
    private var schedule: ReportSchedule
    private var name = InlineArray<16, UInt8>(repeating: 0)
    private var configuration: EngineConfiguration.Sending

    init(_ configuration: EngineConfiguration.Sending) {
        self.configuration = configuration
        microphone = StreamReports(configuration)
        schedule = ReportSchedule(bitsPerSecond: configuration.mostBitsPerSecond, expectedBytes: 1, seed: 0)
    }

    /// Sends the microphone this way from now on; what listeners have reported is learnt anew.
    mutating func change(_ sending: EngineConfiguration.Sending) {
        configuration = sending
        microphone.change(sending)
    }

    /// Reports as this participant from now on, with or without a stream of its own.
    mutating func begin(as start: RTPStreamStart) {
        source = start.synchronizationSource
        microphone.begin(start)
        let seed = UInt64(start.synchronizationSource) << 32 | UInt64(start.timestamp ^ UInt32(start.sequenceNumber))
        schedule = ReportSchedule(
            bitsPerSecond: configuration.mostBitsPerSecond, expectedBytes: Self.usualBytes, seed: seed)
        // As random as the numbers that a stream begins with (RFC 7022 asks for a name that is nobody else's).
        for digit in 0..<16 {
            let nibble = UInt8(truncatingIfNeeded: seed >> UInt64(60 - 4 * digit)) & 15
            name[digit] = nibble < 10 ? 48 + nibble : 87 + nibble
        }
    }

    /// Reports no more.
    mutating func end() {
        source = nil
        microphone.end()
    }

    // MARK: Taking reports

    /// Takes a datagram of reports, all from one sender. The first that it says of a stream counts, and the first
    /// extended report: of one datagram ``LossPatterns/blockLimit`` blocks are looked at, and a pattern of each of our
    /// streams is read. A server forwards 50 of each participant a second.
    ///
    /// - Parameter fed: the streams beside the microphone's.
    /// - Returns: what it says of those, in their order.
    @discardableResult
    mutating func receive(
        _ datagram: Span<UInt8>, arrival: Duration, streams: inout StreamTable, fed: FedSources = FedSources()
    ) -> FedWords {
        do throws(WireError) {
            let news = try read(datagram, arrival: arrival, streams: &streams, fed)
            statistics.reportsReceived += 1
            schedule.note(bytes: datagram.count)
            // Nobody is a listener of its own.
            guard news.reporter != source else { return FedWords(repeating: nil) }
            if let word = news.microphone.word(of: news.reporter), microphone.take(word, arrival: arrival) {
                statistics.reportsWeighed += 1
            }
            var words = FedWords(repeating: nil)
            for index in words.indices { words[index] = news.fed[index].word(of: news.reporter) }
            return words
        } catch {
            statistics.reportsMalformed += 1
            return FedWords(repeating: nil)
        }
    }

    /// What one datagram says of our streams.
    private struct News: BitwiseCopyable {
        let reporter: UInt32
        var microphone = Said()
        var fed = InlineArray<3, Said>(repeating: Said())
    }

    /// What it says of one of them.
    private struct Said: BitwiseCopyable {
        private var block: ReportBlock?
        var pattern: LossPattern?

        mutating func take(_ blocks: ReportBlocks, about source: UInt32?) {
            guard let source, block == nil else { return }
            block = blocks.block(about: source)
        }

        func word(of reporter: UInt32) -> ListenerWord? {
            block.map { ListenerWord(reporter: reporter, block: $0, pattern: pattern) }
        }
    }

    /// Reads all packets before anything that they say is believed.
    private mutating func read(
        _ datagram: Span<UInt8>, arrival: Duration, streams: inout StreamTable, _ fed: FedSources
    ) throws(WireError) -> News {
        var news = News(reporter: try RTCPCompound.sender(of: datagram))
        var ofStream: SenderReport?
        var isReport = false
        var isExtended = false
        var compound = RTCPCompound(datagram)
        while let packet = try compound.next() {
            switch packet.kind {
            case .senderReport, .receiverReport:
                isReport = true
                if packet.kind == .senderReport, ofStream == nil { ofStream = try SenderReport(parsing: packet) }
                let blocks = try ReportBlocks(parsing: packet)
                news.microphone.take(blocks, about: source)
                for index in news.fed.indices { news.fed[index].take(blocks, about: fed[index]) }
            case .extendedReport where !isExtended:
                isExtended = true
                try readPatterns(packet, fed, into: &news)
            default: break
            }
        }
        if let ofStream { streams.note(ofStream, arrival: arrival) }
        if isReport { streams.heardReport(of: news.reporter, arrival: arrival) }
        return news
    }

    /// Reads what an extended report says of our streams, and nothing else of it.
    private mutating func readPatterns(
        _ packet: RTCPPacket, _ fed: FedSources, into news: inout News
    ) throws(WireError) {
        var patterns = try LossPatterns(parsing: packet)
        defer {
            statistics.blocksSeen += patterns.blocksSeen
            statistics.patternsRead += patterns.patternsRead
        }
        while let block = try patterns.nextBlock() {
            if block.source == source, news.microphone.pattern == nil {
                news.microphone.pattern = patterns.pattern(of: block)
            }
            for index in news.fed.indices where block.source == fed[index] && news.fed[index].pattern == nil {
                news.fed[index].pattern = patterns.pattern(of: block)
            }
        }
    }

    // MARK: Reporting

    /// How often each participant reports, on average.
    func meanInterval(of session: ReportSchedule.Session) -> Duration { schedule.meanInterval(of: session) }

    /// Whether a report must go now; answers `true` once.
    mutating func isDue(_ session: ReportSchedule.Session, now: Duration) -> Bool {
        guard source != nil else { return false }
        guard schedule.isDue(session, now: now) else { return false }
        microphone.forgetSilent(now: now)
        return true
    }

    /// Writes a compound report; returns its length. A sender report of a stream beside the microphone's goes by itself:
    /// all packets of a datagram are from one source.
    mutating func write(
        _ reports: ReceptionReports, sender: SenderReport?, into datagram: inout MutableSpan<UInt8>
    ) throws(WireError) -> Int {
        guard let source = sender?.synchronizationSource ?? source else { throw .unrepresentable(.reportBlocks) }
        let blocks = reports.blocks.span.extracting(first: reports.count)
        var length =
            if let sender {
                try sender.write(into: &datagram, reportBlocks: blocks)
            } else {
                try ReceiverReport(synchronizationSource: source).write(into: &datagram, reportBlocks: blocks)
            }
        // Before the name: dissectors, Wireshark 4.0 among them, take what follows a source description for a new
        // compound.
        let room = Self.mostBytes - SourceDescription.byteCount(ofName: name.count)
        var extended = ExtendedReportWriter(synchronizationSource: source, at: length, limit: room)
        for index in 0..<reports.count {
            // What finds no room is told next time, or told by the block alone.
            let about = reports.blocks[index].synchronizationSource
            _ = extended.append(reports.patterns[index], of: about, to: &datagram)
        }
        length += extended.byteCount
        length += try SourceDescription.write(canonicalName: name.span, of: source, into: &datagram, at: length)
        schedule.note(bytes: length)
        statistics.reportsSent += 1
        return length
    }
}

extension EngineConfiguration {
    /// What concerns the way of sending.
    package struct Sending: BitwiseCopyable, Sendable {
        var encoder: OpusEncoderSettings
        var adaptation: SenderAdaptationPolicy
        /// IP, UDP and RTP headers of one voice packet, bytes.
        private static let headerBytes = 48

        /// What the stream takes at most, IP, UDP and RTP headers included: the session's bandwidth for each sender
        /// (RFC 3550, section 6.2).
        var mostBitsPerSecond: Int {
            encoder.bitratePerSecond + Self.headerBytes * 8 * 48_000 / encoder.frameDuration.frames
        }
    }

    package var sending: Sending { Sending(encoder: encoder, adaptation: adaptation) }
}
