import Testing
import VoiceCoding
import VoiceWire

@testable import VoiceEngine

/// Reports as a listener sends them, and as somebody who wishes ill does.
@Suite("Reports about our stream")
final class ReportExchangeTests {
    private static let us: UInt32 = 1
    private var exchange: ReportExchange
    private var streams: StreamTable
    private var now = Duration.seconds(100)

    init() throws {
        exchange = ReportExchange(EngineConfiguration.voiceChat.sending)
        exchange.begin(
            as: RTPStreamStart(synchronizationSource: Self.us, sequenceNumber: 0, timestamp: 0, mayRepeat: true))
        streams = try StreamTable(count: 1, configuration: .conversation)
    }

    /// A receiver report about a stream of ours, after `roundTrip`, with a pattern of the last 50 packets.
    private func report(
        of reporter: UInt32, lost: Bool, roundTrip: Duration, about source: UInt32 = us
    ) throws -> [UInt8] {
        let sent = NetworkTime(sinceUnixEpoch: now - roundTrip).compact
        let block = ReportBlock(
            synchronizationSource: source, fractionLost: lost ? 255 : 0, cumulativeLost: 0,
            extendedHighestSequenceNumber: UInt32(now.components.seconds) * 50, interarrivalJitter: 0,
            lastSenderReport: sent)
        var pattern = LossPattern(firstSequenceNumber: 0)
        for _ in 0..<50 { pattern.append(!lost) }
        var bytes = [UInt8](repeating: 0, count: 200)
        var span = bytes.mutableSpan
        let length = try ReceiverReport(synchronizationSource: reporter).write(
            into: &span, reportBlocks: [block].span)
        var extended = ExtendedReportWriter(synchronizationSource: reporter, at: length, limit: 200)
        _ = extended.append(pattern, of: source, to: &span)
        return Array(bytes[..<(length + extended.byteCount)])
    }

    private func receive(_ bytes: [UInt8]) {
        exchange.receive(bytes.span, arrival: now, streams: &streams)
    }

    @Test("Nobody reports in another's name: invented listeners behind a report change nothing")
    func invented() throws {
        // Given a good listener, and a member that twice a second adds reports of listeners that do not exist, who lose
        // all
        let clean: [UInt8] = [0x80, 201, 0, 1, 0, 0, 0, 50]
        for second in 0..<30 as Range<UInt32> {
            now += .milliseconds(500)
            receive(try report(of: 9, lost: false, roundTrip: .milliseconds(40)))
            for half in 0..<2 as Range<UInt32> {
                receive(clean + (try report(of: 1000 + 2 * second + half, lost: true, roundTrip: .seconds(1))))
                now += .milliseconds(250)
            }
        }
        // Then the sender goes on as for the good one alone
        let plan = exchange.microphone.plan
        #expect(exchange.microphone.listeners.count == 1 && exchange.microphone.listeners[0].synchronizationSource == 9)
        #expect(plan.settings.bitratePerSecond == OpusEncoderSettings.voice.bitratePerSecond)
        #expect(plan.settings.frameDuration == OpusEncoderSettings.voice.frameDuration && plan.copies == 0)
        #expect(exchange.statistics.reportsMalformed == 60 && exchange.statistics.reportsReceived == 30)
    }

    @Test("What a listener says of a stream beside the microphone's counts for that stream alone")
    func beside() throws {
        var (fed, sources) = (StreamReports(EngineConfiguration.voiceChat.sending), FedSources())
        sources.append(5)
        sources.append(6)
        fed.begin(RTPStreamStart(synchronizationSource: 6, sequenceNumber: 0, timestamp: 0, mayRepeat: true))
        for second in 0..<30 {
            now += .seconds(1)
            let roundTrip = second < 3 ? Duration.milliseconds(5) : .seconds(2)
            let bytes = try report(of: 9, lost: false, roundTrip: roundTrip, about: 6)
            let words = exchange.receive(bytes.span, arrival: now, streams: &streams, fed: sources)
            #expect(words[0] == nil && words[2] == nil)
            let word = try #require(words[1])
            #expect(word.reporter == 9 && word.pattern != nil)
            let isWeighed = fed.take(word, arrival: now)
            #expect(isWeighed)
        }
        #expect(fed.listeners.count == 1 && abs((fed.listeners[0].roundTripTime ?? 0) - 2) < 0.1)
        #expect(fed.plan.settings.bitratePerSecond < OpusEncoderSettings.voice.bitratePerSecond)
        #expect(exchange.microphone.listeners.count == 0 && exchange.statistics.reportsWeighed == 0)
        #expect(exchange.microphone.plan.settings == OpusEncoderSettings.voice)
        // And what it says too soon after is not weighed
        let again = try report(of: 9, lost: false, roundTrip: .milliseconds(40), about: 6)
        let words = exchange.receive(again.span, arrival: now, streams: &streams, fed: sources)
        let isWeighed = fed.take(try #require(words[1]), arrival: now)
        #expect(!isWeighed)
    }

    @Test("One of three listeners who says in its own name that it hears nothing takes nothing from the others")
    func lie() throws {
        for second in 0..<60 {
            now += .seconds(1)
            for good in [9, 10] as [UInt32] { receive(try report(of: good, lost: false, roundTrip: .milliseconds(40))) }
            receive(try report(of: 8, lost: true, roundTrip: second < 3 ? .milliseconds(5) : .seconds(2)))
        }
        let plan = exchange.microphone.plan
        #expect(exchange.microphone.listeners.count == 3 && exchange.statistics.reportsMalformed == 0)
        #expect(plan.settings.bitratePerSecond == OpusEncoderSettings.voice.bitratePerSecond)
        #expect(plan.settings.frameDuration == OpusEncoderSettings.voice.frameDuration && plan.copies == 0)
    }

    @Test("Of a datagram full of loss patterns so many blocks are looked at, and one pattern of each stream is read")
    func patterns() throws {
        // A pattern of 16383 packets
        func pattern(about source: UInt8) -> [UInt8] {
            [1, 0, 0, 3, 0, 0, 0, source, 0, 0, 0xFF, 0xFF, 0x7F, 0xFF, 0, 0]
        }
        func extended(_ blocks: [[UInt8]]) -> [UInt8] {
            let body = blocks.flatMap { $0 }
            let words = 1 + body.count / 4
            return [0x80, 207, UInt8(words >> 8), UInt8(words & 255), 0, 0, 0, 9] + body
        }
        func check(_ reports: [UInt8], blocks: Int, patterns: Int, isRefused: Bool, _ what: Comment) {
            var fed = FedSources()
            for source in 2...4 as ClosedRange<UInt32> { fed.append(source) }
            let before = exchange.statistics
            let bytes: [UInt8] = [0x80, 201, 0, 1, 0, 0, 0, 9] + reports
            exchange.receive(bytes.span, arrival: now, streams: &streams, fed: fed)
            let after = exchange.statistics
            #expect(after.blocksSeen - before.blocksSeen == blocks, what)
            #expect(after.patternsRead - before.patternsRead == patterns, what)
            #expect(after.reportsMalformed - before.reportsMalformed == (isRefused ? 1 : 0), what)
        }
        let limit = LossPatterns.blockLimit
        let ours = (1...4 as ClosedRange<UInt8>).map { pattern(about: $0) }
        let most = extended([[UInt8]](repeating: ours[0], count: limit))
        check(most, blocks: limit, patterns: 1, isRefused: false, "as many as there may be, of one stream")
        let tooMany = extended([[UInt8]](repeating: ours[0], count: limit + 1))
        check(tooMany, blocks: limit, patterns: 1, isRefused: true, "one more")
        let behind = extended([[UInt8]](repeating: pattern(about: 77), count: 20) + ours + ours)
        check(behind, blocks: 28, patterns: 4, isRefused: false, "of another's stream, then of all of ours, twice")
        let unknown = extended([[UInt8]](repeating: [9, 0, 0, 0], count: 300))
        check(unknown, blocks: limit, patterns: 0, isRefused: true, "blocks of another kind")
        let one = extended([ours[0]])
        let several = (0..<50).flatMap { _ in one }
        check(several, blocks: 1, patterns: 1, isRefused: false, "many extended reports")
    }

    @Test("A listener's word counts for the time between its reports, not for how often it says it")
    func flood() throws {
        // Given a good listener, and one that reports 1000 times a second what it told before
        receive(try report(of: 9, lost: false, roundTrip: .milliseconds(40)))
        let weighed = exchange.statistics.reportsWeighed
        for _ in 0..<5000 {
            now += .milliseconds(1)
            receive(try report(of: 8, lost: true, roundTrip: .milliseconds(40)))
        }
        // Then it is weighed as often as a report may come at all, and the rest costs no more than reading it
        let most = Int(Duration.seconds(5) / StreamReports.weighingInterval)
        #expect(exchange.statistics.reportsReceived == 5001)
        #expect((most - 1...most).contains(exchange.statistics.reportsWeighed - weighed))
    }
}
