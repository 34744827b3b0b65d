import Testing
import VoiceWire

@testable import VoiceEngine

@Suite("The packets of a report")
struct ReportOrderTests {
    private func kinds(_ reports: ReceptionReports, sender: Bool) throws -> (kinds: [UInt8], bytes: Int) {
        let configuration = EngineConfiguration()
        var exchange = ReportExchange(configuration.sending)
        exchange.begin(
            as: RTPStreamStart(synchronizationSource: 9, sequenceNumber: 1, timestamp: 1, mayRepeat: false))
        var bytes = [UInt8](repeating: 0, count: 1_500)
        var datagram = bytes.mutableSpan
        let report = SenderReport(
            synchronizationSource: 9, networkTime: NetworkTime(sinceUnixEpoch: .seconds(1)), timestamp: 1,
            packetCount: 2, octetCount: 3)
        let length = try exchange.write(reports, sender: sender ? report : nil, into: &datagram)
        var kinds: [UInt8] = []
        var offset = 0
        while offset < length {
            kinds.append(bytes[offset + 1])
            offset += 4 * (Int(bytes[offset + 2]) << 8 + Int(bytes[offset + 3]) + 1)
        }
        #expect(offset == length)
        return (kinds, length)
    }

    /// Reports of so many talkers, with as long a loss pattern of each as there is.
    private func reports(_ count: Int) -> ReceptionReports {
        var reports = ReceptionReports()
        for talker in 0..<count {
            var pattern = LossPattern(firstSequenceNumber: 0)
            for packet in 0..<LossPattern.capacity { pattern.append(packet % 3 != 0) }
            reports.append(
                ReportBlock(
                    synchronizationSource: UInt32(talker + 1), fractionLost: 85, cumulativeLost: 1,
                    extendedHighestSequenceNumber: 200, interarrivalJitter: 1), pattern)
        }
        return reports
    }

    @Test("come as SR or RR, XR, SDES: what follows a description is another compound to Wireshark 4.0")
    func order() throws {
        #expect(try kinds(reports(1), sender: true).kinds == [200, 207, 202])
        #expect(try kinds(reports(1), sender: false).kinds == [201, 207, 202])
        #expect(try kinds(reports(0), sender: true).kinds == [200, 202])
    }

    @Test("the description has its room, however many patterns there are")
    func room() throws {
        let (kinds, bytes) = try kinds(reports(16), sender: true)
        #expect(kinds == [200, 207, 202])
        #expect(bytes <= 1_200)
    }
}
