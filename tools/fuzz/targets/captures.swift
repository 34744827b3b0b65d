// modules: VoiceQueue VoiceWire VoicePeers VoiceRooms CPcap
// files: Sources/duplex/Playout/PlayoutCapture.swift Sources/duplex/Playout/PlayoutDatagram.swift
// files: Tests/CommandLineTests/PacketCapture.swift
//
// Any bytes as a capture file, and whole captures around any bytes as a captured packet, in each link layer. Nothing
// may trap; what is read of RTP is no longer than the file.

import Glibc

private let reading = Budget("a capture file", limit: 200_000)

/// As `duplex` has it; the rest of what it is needs the command line.
struct Failure: Error {
    enum Code { case thresholdMissed, usage, inputUnusable, unavailable, permissionDenied }

    init(_ code: Code, _ message: String) { precondition(!message.isEmpty) }
}

/// A file in memory whose name is gone, so that nothing is left behind, however the run ends.
private let path: String = {
    let name = "/dev/shm/duplex-fuzz-\(getpid()).pcap"
    guard let stream = unsafe fopen(name, "w") else { fatalError("no file to read from") }
    unsafe unlink(name)
    let descriptor = unsafe fileno(stream)
    return "/proc/self/fd/\(descriptor)"
}()

/// libFuzzer's entry: one input, always answered 0; a precondition that fails is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes = unsafe bytes, count > 1 else { return 0 }
    let input = unsafe Span(_unsafeStart: bytes, count: count)
    let body = (2..<count).map { input[$0] }
    if input[0] & 1 == 0 {
        read(body)
    } else {
        let links = PlayoutDatagram.Link.allCases
        read(pcap(link: links[Int(input[1]) % links.count].rawValue, packets(body)))
    }
    return 0
}

private func read(_ file: [UInt8]) {
    guard let stream = unsafe fopen(path, "w") else { fatalError("no file to read from") }
    _ = unsafe fwrite(file, 1, file.count, stream)
    unsafe fclose(stream)
    reading.spend {
        guard
            let capture = try? PlayoutCapture(path: path, choice: PlayoutCapture.Choice(payloadType: 111, source: nil))
        else { return }
        let sound = capture.packets.reduce(0) { $0 + $1.payload.count }
        precondition(sound <= file.count, "more sound than the file holds")
    }
}

/// The bytes as packets; the first of each says how long it is.
private func packets(_ bytes: [UInt8]) -> [[UInt8]] {
    var packets: [[UInt8]] = []
    var position = 0
    while position < bytes.count {
        let end = min(bytes.count, position + 1 + Int(bytes[position]))
        packets.append(Array(bytes[position + 1..<max(position + 1, end)]))
        position = max(position + 1, end)
    }
    return packets
}

/// A capture with a packet every 20 ms.
private func pcap(link: Int32, _ packets: [[UInt8]]) -> [UInt8] {
    PacketCapture.file(link: link, packets.enumerated().map { number, packet in (number * 20_000, packet) })
}

func makeSeeds() -> [[UInt8]] {
    let rtp: [UInt8] = [0x80, 111, 0, 1, 0, 0, 3, 0xC0, 1, 2, 3, 4, 0x48, 0x40, 1]
    let (udp, ipv4) = (PacketCapture.udp(rtp), PacketCapture.ipv4(rtp))
    let ipv6: [UInt8] =
        [0x60, 0, 0, 0, 0, UInt8(udp.count), 17, 64] + [UInt8](repeating: 0, count: 15) + [1]
        + [UInt8](repeating: 0, count: 15) + [1] + udp
    func framed(_ packet: [UInt8], link: UInt8, header: [UInt8]) -> [UInt8] {
        let whole = header + packet
        return [1, link] + [UInt8(whole.count)] + whole + [UInt8(whole.count)] + whole
    }
    let links = PlayoutDatagram.Link.allCases
    func index(_ link: PlayoutDatagram.Link) -> UInt8 { UInt8(links.firstIndex(of: link) ?? 0) }
    let mac = [UInt8](repeating: 2, count: 12)
    let seeds = [
        framed(ipv4, link: index(.raw), header: []), framed(ipv6, link: index(.raw), header: []),
        framed(ipv4, link: index(.ethernet), header: mac + [8, 0]),
        framed(ipv4, link: index(.ethernet), header: mac + [0x81, 0, 0, 1, 8, 0]),
        framed(ipv6, link: index(.cooked), header: [UInt8](repeating: 0, count: 14) + [0x86, 0xDD]),
        framed(ipv4, link: index(.null), header: [2, 0, 0, 0]),
    ]
    return seeds + [[0, 0] + pcap(link: 101, [ipv4, ipv6]), [0, 0] + pcap(link: 101, [ipv4]).dropLast(5)]
}
