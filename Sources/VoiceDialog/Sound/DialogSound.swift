/// How sound stands in a message; mono.
package enum DialogSound: Equatable, Sendable {
    /// 16 bits, little endian, at this rate in Hz: 24,000 in the protocol, 16,000 in some servers' input.
    case pcm16(rate: Int)
    /// G.711, 8 kHz.
    case muLaw
    case aLaw

    /// Samples a second.
    package var rate: Int {
        if case .pcm16(let rate) = self { rate } else { 8_000 }
    }

    package func encode(_ samples: some Collection<Int16>) -> [UInt8] {
        switch self {
        case .pcm16:
            var bytes: [UInt8] = []
            bytes.reserveCapacity(2 * samples.count)
            for sample in samples {
                bytes.append(UInt8(truncatingIfNeeded: sample))
                bytes.append(UInt8(truncatingIfNeeded: sample >> 8))
            }
            return bytes
        case .muLaw: return samples.map(G711.encodeMuLaw)
        case .aLaw: return samples.map(G711.encodeALaw)
        }
    }

    /// The samples; nil where half a sample is left over.
    package func decode(_ bytes: [UInt8]) -> [Int16]? {
        switch self {
        case .pcm16:
            guard bytes.count.isMultiple(of: 2) else { return nil }
            return stride(from: 0, to: bytes.count, by: 2).map {
                Int16(truncatingIfNeeded: Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8)
            }
        case .muLaw: return bytes.map(G711.decodeMuLaw)
        case .aLaw: return bytes.map(G711.decodeALaw)
        }
    }

    /// How long so many samples sound.
    package func duration(_ samples: Int) -> Duration {
        .seconds(samples / rate) + .nanoseconds(samples % rate * 1_000_000_000 / rate)
    }
}
