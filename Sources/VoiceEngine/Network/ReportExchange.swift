internal import VoiceCoding
internal import VoiceWire

/// RTCP on the media thread: takes what others report, decides when to report, and writes it (RFC 3550, section 6).
///
///     receive ring ─► reports about our stream ─► statistics, SenderAdaptation
///                └──► sender reports of others ─► their ReceptionStatistics ─┐
///     send ring  ◄── SR or RR, loss patterns, CNAME ◄────────────────────────┘  about once a second
///
/// Reports travel as RTP does, on the same port (RFC 5761), and are forwarded by the room. Their wall clock is the monotonic one, as RFC 3550,
/// section 4, allows. No goodbye is sent: the room tells who leaves, and that reliably.
struct ReportExchange: BitwiseCopyable, Sendable {
    /// What is counted.
    struct Statistics: BitwiseCopyable, Sendable {
        var reportsSent = 0
        var reportsReceived = 0
        var reportsMalformed = 0
    }

    /// A report is no longer than what any path carries whole (RFC 9000, section 14.1).
    private static let mostBytes = 1_200
    /// A sender report with one block, a name and a loss pattern: what is expected before the first.
    private static let usualBytes = 120
    /// As whom this engine reports; nil outside a room.
    private(set) var source: UInt32?
    private(set) var listeners = ListenerTable<RemoteInbound>()
    private(set) var adaptation: SenderAdaptation
    private(set) var statistics = Statistics()
    private var schedule: ReportSchedule
    private var name = InlineArray<16, UInt8>(repeating: 0)
    private let configuration: EngineConfiguration.Sending

    init(_ configuration: EngineConfiguration.Sending) {
        self.configuration = configuration
        adaptation = SenderAdaptation(configuration.encoder, policy: configuration.adaptation, allowsCopies: false)
        schedule = ReportSchedule(bitsPerSecond: configuration.mostBitsPerSecond, expectedBytes: 1, seed: 0)
    }

    /// Reports as this participant from now on, with or without a stream of its own.
    mutating func begin(as start: RTPStreamStart) {
        source = start.synchronizationSource
        listeners = ListenerTable<RemoteInbound>()
        adaptation = SenderAdaptation(
            configuration.encoder, policy: configuration.adaptation, allowsCopies: start.mayRepeat)
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
        listeners = ListenerTable<RemoteInbound>()
    }

    // MARK: Taking reports

    /// Takes a datagram of reports; what of it is not understood is left out.
    mutating func receive(_ datagram: Span<UInt8>, arrival: Duration, streams: inout StreamTable) {
        var compound = RTCPCompound(datagram)
        var news: News?
        do throws(WireError) {
            while let packet = try compound.next() {
                switch packet.kind {
                case .senderReport:
                    let report = try SenderReport(parsing: packet)
                    streams.note(report, arrival: arrival)
                    streams.heardReport(of: report.synchronizationSource, arrival: arrival)
                    news = try block(in: packet, of: report.synchronizationSource, arrival: arrival) ?? news
                case .receiverReport:
                    let report = try ReceiverReport(parsing: packet)
                    streams.heardReport(of: report.synchronizationSource, arrival: arrival)
                    news = try block(in: packet, of: report.synchronizationSource, arrival: arrival) ?? news
                case .extendedReport: try addPatterns(in: packet, to: &news)
                default: break
                }
            }
            statistics.reportsReceived += 1
            schedule.note(bytes: datagram.count)
        } catch {
            statistics.reportsMalformed += 1
        }
        if let news { adapt(to: news, arrival: arrival) }
    }

    /// What one datagram says of our stream.
    private struct News: BitwiseCopyable {
        var reporter: UInt32
        var roundTrip: Double?
        var fractionLost: Double
        var packets: Int
        var pattern: LossPattern?
    }

    private mutating func block(
        in packet: RTCPPacket, of reporter: UInt32, arrival: Duration
    ) throws(WireError) -> News? {
        let blocks = try ReportBlocks(parsing: packet)
        guard let source, reporter != source, let block = blocks.block(about: source) else { return nil }
        let place = listeners.place(of: reporter, now: arrival)
        let (roundTrip, packets) = listeners[place].note(block, arrival: arrival)
        return News(
            reporter: reporter, roundTrip: roundTrip, fractionLost: listeners[place].fractionLost, packets: packets)
    }

    private func addPatterns(in packet: RTCPPacket, to news: inout News?) throws(WireError) {
        guard news != nil else { return }
        var patterns = try LossPatterns(parsing: packet)
        while let element = try patterns.next() {
            if element.source == source, patterns.synchronizationSource == news?.reporter {
                news?.pattern = element.pattern
            }
        }
    }

    private mutating func adapt(to news: News, arrival: Duration) {
        let evidence =
            if let pattern = news.pattern { LossEvidence(pattern) } else {
                LossEvidence(fractionLost: news.fractionLost, packets: min(news.packets, LossPattern.capacity))
            }
        adaptation.note(evidence, from: news.reporter, roundTrip: news.roundTrip, now: arrival)
    }

    // MARK: Reporting

    /// How often each participant reports, on average.
    func meanInterval(of session: ReportSchedule.Session) -> Duration { schedule.meanInterval(of: session) }

    /// Whether a report must go now; answers `true` once.
    mutating func isDue(_ session: ReportSchedule.Session, now: Duration) -> Bool {
        guard source != nil else { return false }
        guard schedule.isDue(session, now: now) else { return false }
        listeners.forgetSilent(now: now)
        return true
    }

    /// Writes a compound report; returns its length.
    mutating func write(
        _ reports: ReceptionReports, sender: SenderReport?, into datagram: inout MutableSpan<UInt8>
    ) throws(WireError) -> Int {
        guard let source else { throw .unrepresentable(.reportBlocks) }
        let blocks = reports.blocks.span.extracting(first: reports.count)
        var length =
            if let sender {
                try sender.write(into: &datagram, reportBlocks: blocks)
            } else {
                try ReceiverReport(synchronizationSource: source).write(into: &datagram, reportBlocks: blocks)
            }
        // Before the name: dissectors, Wireshark 4.0 among them, take what follows a source description for a new compound.
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
    struct Sending: BitwiseCopyable, Sendable {
        var encoder: OpusEncoderSettings
        var adaptation: SenderAdaptationPolicy
        /// IP, UDP and RTP headers of one voice packet, bytes.
        private static let headerBytes = 48

        /// What the stream takes at most, IP, UDP and RTP headers included: the session's bandwidth for each sender (RFC 3550, section 6.2).
        var mostBitsPerSecond: Int {
            encoder.bitratePerSecond + Self.headerBytes * 8 * 48_000 / encoder.frameDuration.frames
        }
    }

    var sending: Sending { Sending(encoder: encoder, adaptation: adaptation) }
}
