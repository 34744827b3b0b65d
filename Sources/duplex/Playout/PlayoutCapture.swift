import CPcap
import Glibc
import VoiceWire

/// The RTP streams of one payload type in a capture file.
struct PlayoutCapture {
    /// An RTP packet as it came.
    struct Packet {
        /// Capture time since the first packet of the file.
        let time: Duration
        let header: RTPHeader
        let payload: [UInt8]
    }

    /// The packets of the chosen stream, in the order of the file.
    private(set) var packets: [Packet] = []
    /// Source and packets of each stream of that payload type, most packets first.
    private(set) var streams: [(source: UInt32, packets: Int)] = []
    /// Datagrams that are no RTP, and captured packets that are cut short or no UDP.
    private(set) var otherDatagrams = 0
    private(set) var otherPackets = 0

    /// Reads a classic pcap or pcapng file and keeps the stream of `payloadType` with the most packets.
    ///
    /// - Throws: ``Failure`` for a file that is missing, no capture, cut off, or without such a stream.
    init(path: String, payloadType: UInt8) throws(Failure) {
        let file = try CaptureFile(path: path)
        var all: [Packet] = []
        var otherTypes: [UInt8: Int] = [:]
        while let captured = try file.next() {
            guard captured.isWhole, let datagram = PlayoutDatagram.payload(of: captured.bytes[...], link: file.link)
            else {
                otherPackets += 1
                continue
            }
            guard let packet = Self.parse(datagram, time: captured.time) else {
                otherDatagrams += 1
                continue
            }
            if packet.header.payloadType == payloadType {
                all.append(packet)
            } else {
                otherTypes[packet.header.payloadType, default: 0] += 1
            }
        }
        try choose(from: all, otherTypes, payloadType: payloadType, path: path)
    }

    private mutating func choose(
        from all: [Packet], _ otherTypes: [UInt8: Int], payloadType: UInt8, path: String
    ) throws(Failure) {
        var counts: [UInt32: Int] = [:]
        for packet in all { counts[packet.header.synchronizationSource, default: 0] += 1 }
        streams = counts.map { (source: $0.key, packets: $0.value) }
            .sorted { ($0.packets, $1.source) > ($1.packets, $0.source) }
        guard let chosen = streams.first else {
            let found = otherTypes.sorted { $0.value > $1.value }.map { "\($0.key) (\($0.value) packets)" }
            let hint =
                found.isEmpty
                ? "it holds no RTP at all; check that the capture was made where the call passed unencrypted."
                : "it holds payload type \(found.joined(separator: ", ")); name yours with --payload-type."
            throw Failure(.inputUnusable, "\(path): no RTP of payload type \(payloadType) in it; \(hint)")
        }
        packets = all.filter { $0.header.synchronizationSource == chosen.source }
    }

    private static func parse(_ datagram: ArraySlice<UInt8>, time: Duration) -> Packet? {
        let bytes = Array(datagram)
        guard let packet = try? RTPPacket(parsing: bytes.span) else { return nil }
        let payload = packet.payload
        return Packet(time: time, header: packet.header, payload: payload.indices.map { payload[$0] })
    }
}

/// A capture file, read packet by packet through libpcap.
@safe private final class CaptureFile {
    struct Captured {
        let time: Duration
        let bytes: [UInt8]
        /// Whether the capture kept the packet's every byte.
        let isWhole: Bool
    }

    let link: PlayoutDatagram.Link
    private let path: String
    private let handle: OpaquePointer
    private var first: Duration?
    private var count = 0

    init(path: String) throws(Failure) {
        var buffer = [CChar](repeating: 0, count: Int(PCAP_ERRBUF_SIZE))
        let opened = unsafe buffer.withUnsafeMutableBufferPointer { buffer in
            unsafe pcap_open_offline_with_tstamp_precision(
                path, UInt32(PCAP_TSTAMP_PRECISION_NANO), buffer.baseAddress)
        }
        guard let opened = unsafe opened else {
            let message = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            // libpcap names the file itself where it cannot open it.
            let named = "\(path): "
            let reason = message.hasPrefix(named) ? String(message.dropFirst(named.count)) : message
            throw Failure(
                .inputUnusable, "\(path): cannot be read as a capture (\(reason)); give a pcap or pcapng file.")
        }
        let number = unsafe pcap_datalink(opened)
        guard let link = PlayoutDatagram.Link(rawValue: number) else {
            unsafe pcap_close(opened)
            throw Failure(
                .inputUnusable,
                "\(path): its link layer \(number) is not understood; capture raw IP, Ethernet, Linux cooked or loopback."
            )
        }
        (self.path, self.link) = (path, link)
        unsafe handle = opened
    }

    deinit { unsafe pcap_close(handle) }

    /// The next packet, or nil at the end.
    func next() throws(Failure) -> Captured? {
        var header: UnsafeMutablePointer<pcap_pkthdr>?
        var data: UnsafePointer<UInt8>?
        let result = unsafe pcap_next_ex(handle, &header, &data)
        guard result != PCAP_ERROR_BREAK else { return nil }
        guard result == 1, let header = unsafe header, let data = unsafe data else {
            let reason = unsafe String(cString: pcap_geterr(handle))
            throw Failure(
                .inputUnusable, "\(path): is damaged after packet \(count) (\(reason)); copy or capture it again.")
        }
        count += 1
        let stamp = unsafe header.pointee.ts
        let (length, kept) = unsafe (header.pointee.len, header.pointee.caplen)
        // With nanosecond precision the field named for microseconds holds nanoseconds.
        let time = Duration.seconds(Int64(stamp.tv_sec)) + .nanoseconds(Int64(stamp.tv_usec))
        let start = first ?? time
        first = start
        let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: Int(kept)))
        return Captured(time: time - start, bytes: bytes, isWhole: kept >= length)
    }
}
