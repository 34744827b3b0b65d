import CPcap
import Glibc
import VoiceRooms
import VoiceWire

/// The RTP streams of Opus in a capture file, with and without packets that repeat earlier ones.
struct PlayoutCapture {
    /// What is asked of a capture.
    struct Choice {
        /// The payload type of Opus.
        let payloadType: UInt8
        /// The stream to be played; nil for the one with the most packets.
        let source: UInt32?

        /// Packets of this type repeat earlier ones (RFC 2198); nil where that number is Opus's own.
        var redundantPayloadType: UInt8? {
            payloadType == RoomProtocol.redundantPayloadType ? nil : RoomProtocol.redundantPayloadType
        }
    }

    /// An RTP packet as it came.
    struct Packet {
        /// Capture time since the first packet of the file.
        let time: Duration
        let header: RTPHeader
        let payload: [UInt8]
        /// Whether the payload is Opus with earlier packets repeated (RFC 2198).
        let repeats: Bool
    }

    /// Two packets of one call are no further apart; a clock that was set, or two calls in one file, are.
    static let longestSilence: Duration = .seconds(3_600)
    /// No stream is played for longer: 4 GiB of WAV, the most that the format's sizes can state, are 12.4 h of it.
    static let longestCall: Duration = .seconds(12 * 3_600)

    /// From the first packet to the latest.
    var length: Duration {
        guard let first = packets.first else { return .zero }
        return packets.reduce(Duration.zero) { max($0, $1.time - first.time) }
    }

    /// The packets of the chosen stream, in the order of the file.
    private(set) var packets: [Packet] = []
    /// Source and packets of each stream of that payload type, most packets first.
    private(set) var streams: [(source: UInt32, packets: Int)] = []
    /// The stream that is played.
    private(set) var source: UInt32 = 0
    /// Why the stream's packets end before the file, or the file before its last packet; nil where all are there.
    private(set) var cut: String?
    /// Packets of the stream of other payload types, by type.
    private(set) var packetsOfOtherTypes: [UInt8: Int] = [:]
    /// Datagrams that are no RTP, and captured packets that are cut short or no UDP.
    private(set) var otherDatagrams = 0
    private(set) var otherPackets = 0

    /// Reads a classic pcap or pcapng file, as far as it can be read, and keeps the chosen stream.
    ///
    /// - Throws: ``Failure`` for a file that is missing, no capture, or without such a stream.
    init(path: String, choice: Choice) throws(Failure) {
        let file = try CaptureFile(path: path)
        var all: [Packet] = []
        while let captured = file.next() {
            guard captured.isWhole, let datagram = PlayoutDatagram.payload(of: captured.bytes[...], link: file.link)
            else {
                otherPackets += 1
                continue
            }
            guard let packet = Self.parse(datagram, time: captured.time, choice) else {
                otherDatagrams += 1
                continue
            }
            all.append(packet)
        }
        cut = file.damage.map { "the file is damaged after packet \(file.count) (\($0))" }
        try choose(from: all, choice, path: path)
        endBeforeLeap()
    }

    private mutating func choose(from all: [Packet], _ choice: Choice, path: String) throws(Failure) {
        var counts: [UInt32: Int] = [:]
        var otherTypes: [UInt32: [UInt8: Int]] = [:]
        for packet in all {
            let (source, type) = (packet.header.synchronizationSource, packet.header.payloadType)
            if packet.repeats || type == choice.payloadType {
                counts[source, default: 0] += 1
            } else {
                otherTypes[source, default: [:]][type, default: 0] += 1
            }
        }
        streams = counts.map { (source: $0.key, packets: $0.value) }
            .sorted { ($0.packets, $1.source) > ($1.packets, $0.source) }
        guard let chosen = streams.first(where: { $0.source == choice.source ?? $0.source }) else {
            throw Failure(.inputUnusable, "\(path): \(reason(choice, otherTypes.values.flatMap { $0 }))")
        }
        source = chosen.source
        packets = all.filter {
            $0.header.synchronizationSource == source && ($0.repeats || $0.header.payloadType == choice.payloadType)
        }
        packetsOfOtherTypes = otherTypes[source] ?? [:]
    }

    /// Why there is nothing to play, and what to do.
    private func reason(_ choice: Choice, _ otherTypes: [(key: UInt8, value: Int)]) -> String {
        let broken = cut.map { "; \($0)" } ?? ""
        if let source = choice.source, !streams.isEmpty {
            return "no stream \(source) of payload type \(choice.payloadType) in it\(broken); choose with --ssrc among "
                + Self.list(streams) + "."
        }
        let types = Self.list(Dictionary(otherTypes.map { ($0.key, $0.value) }, uniquingKeysWith: +))
        let hint =
            types.isEmpty
            ? "it holds no RTP at all; check that the capture was made where the call passed unencrypted."
            : "it holds payload type \(types); name yours with --payload-type."
        return "no RTP of payload type \(choice.payloadType) in it\(broken); \(hint)"
    }

    /// Lets go what comes after a leap of the capture's clock that no call has: it would be played as silence, for
    /// years perhaps.
    private mutating func endBeforeLeap() {
        guard let first = packets.first else { return }
        var last = first.time
        for (index, packet) in packets.enumerated() {
            let silence = packet.time - last
            if abs(silence / .seconds(1)) > Self.longestSilence / .seconds(1) {
                let seconds = Int((silence / .seconds(1)).rounded())
                end(before: index, "packet \(index + 1) of the stream is dated \(seconds) s after the one before")
                return
            }
            if packet.time - first.time > Self.longestCall {
                end(before: index, "the stream is longer than \(Self.longestCall.components.seconds / 3_600) h")
                return
            }
            last = packet.time
        }
    }

    private mutating func end(before index: Int, _ reason: String) {
        cut = "\(reason), and its last \(packets.count - index) packets are left out"
        packets.removeSubrange(index...)
    }

    /// So many streams are named to people; of a forged capture there may be one for each packet.
    static let longestList = 8

    /// Streams for people: `7 (100 packets), 8 (2 packets)`.
    static func list(_ streams: [(source: UInt32, packets: Int)]) -> String {
        let named = streams.prefix(longestList).map { "\($0.source) (\($0.packets) packets)" }
        let others = streams.count - named.count
        return (named + (others > 0 ? ["\(others) others"] : [])).joined(separator: ", ")
    }

    /// Payload types for people, most packets first.
    static func list(_ types: [UInt8: Int]) -> String {
        types.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.map { "\($0.key) (\($0.value) packets)" }
            .joined(separator: ", ")
    }

    private static func parse(_ datagram: ArraySlice<UInt8>, time: Duration, _ choice: Choice) -> Packet? {
        let bytes = Array(datagram)
        guard let packet = try? RTPPacket(parsing: bytes.span) else { return nil }
        let payload = packet.payload
        var repeats = false
        if packet.header.payloadType == choice.redundantPayloadType, let audio = try? RedundantAudio(parsing: payload) {
            repeats = audio.primaryPayloadType == choice.payloadType
        }
        return Packet(
            time: time, header: packet.header, payload: payload.indices.map { payload[$0] }, repeats: repeats)
    }
}

/// A capture file, read packet by packet through libpcap, which is loaded for it.
@safe private final class CaptureFile {
    struct Captured {
        let time: Duration
        let bytes: [UInt8]
        /// Whether the capture kept the packet's every byte.
        let isWhole: Bool
    }

    /// No packet was captured this long before or after 1970, s.
    private static let farthest = 1e11

    let link: PlayoutDatagram.Link
    private let library: late_pcap
    private let handle: OpaquePointer
    private var first: Duration?
    /// Packets read so far.
    private(set) var count = 0
    /// What is wrong with the file behind the last packet read; nil where nothing is.
    private(set) var damage: String?

    init(path: String) throws(Failure) {
        guard let library = unsafe late_pcap() else {
            throw Failure(.unavailable, "libpcap, which reads captures, is not installed: apt install libpcap0.8")
        }
        unsafe self.library = library.pointee
        var buffer = [CChar](repeating: 0, count: Int(PCAP_ERRBUF_SIZE))
        let opened = unsafe buffer.withUnsafeMutableBufferPointer { buffer in
            unsafe library.pointee.open_offline(path, UInt32(PCAP_TSTAMP_PRECISION_NANO), buffer.baseAddress)
        }
        guard let opened = unsafe opened else {
            let message = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            // libpcap names the file itself where it cannot open it.
            let named = "\(path): "
            let reason = message.hasPrefix(named) ? String(message.dropFirst(named.count)) : message
            throw Failure(
                .inputUnusable, "\(path): cannot be read as a capture (\(reason)); give a pcap or pcapng file.")
        }
        let number = unsafe library.pointee.datalink(opened)
        guard let link = PlayoutDatagram.Link(rawValue: number) else {
            unsafe library.pointee.close(opened)
            throw Failure(
                .inputUnusable,
                "\(path): its link layer \(number) is not understood; capture raw IP, Ethernet, Linux cooked or loopback."
            )
        }
        self.link = link
        unsafe handle = opened
    }

    deinit { unsafe library.close(handle) }

    /// The next packet, or nil at the end, or where the file is damaged.
    func next() -> Captured? {
        var header: UnsafeMutablePointer<pcap_pkthdr>?
        var data: UnsafePointer<UInt8>?
        let result = unsafe library.next(handle, &header, &data)
        guard result != PCAP_ERROR_BREAK else { return nil }
        guard result == 1, let header = unsafe header, let data = unsafe data else {
            damage = unsafe library.error(handle).map { unsafe String(cString: $0) } ?? "unreadable"
            return nil
        }
        let stamp = unsafe header.pointee.ts
        let (length, kept) = unsafe (header.pointee.len, header.pointee.caplen)
        // With nanosecond precision the field named for microseconds holds nanoseconds.
        let time = Duration.seconds(Int64(stamp.tv_sec)) + .nanoseconds(Int64(stamp.tv_usec))
        guard abs(time / .seconds(1)) < Self.farthest else {
            damage = "its time stamp is no date"
            return nil
        }
        count += 1
        let start = first ?? time
        first = start
        let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: Int(kept)))
        return Captured(time: time - start, bytes: bytes, isWhole: kept >= length)
    }
}
