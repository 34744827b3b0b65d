import Glibc
import VoiceSimulation

/// Sends a thousand datagrams of random bytes and lengths to a port of this machine, most of them with a first byte
/// that the server looks at.
func sendNoise(to port: UInt16, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    for _ in 0..<1_000 {
        let count = [0, 1, 2, 13, 14, 21, 32, 200, 1_200, 1_500, 4_000].randomElement(using: &random) ?? 0
        var bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        if count > 1, Bool.random(using: &random) {
            bytes[0] = [13, 128, 144, 191, 22].randomElement(using: &random) ?? 13
            bytes[1] = [0, 1, 111, 200, 201].randomElement(using: &random) ?? 1
        }
        unsafe withUnsafeBytes(of: &address) { raw in
            let target = unsafe raw.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            _ = unsafe sendto(descriptor, bytes, count, 0, target, socklen_t(raw.count))
        }
    }
}
