import Glibc
import TestCases
import VoiceWire

extension SeededNumbers {
    mutating func exponential(mean: Double) -> Double { -mean * log(1 - uniform()) }
}

/// What a network does to a stream; times in milliseconds.
struct Network {
    var jitterMilliseconds = 0.0
    var lossRatio = 0.0
    var meanBurst = 2.0
    var reorderRatio = 0.0
    var duplicateRatio = 0.0
    var skewPPM = 0.0
    var stallEveryMilliseconds = Double.infinity
    /// Delay added while the sender's time is within the range.
    var step: (from: Double, to: Double, milliseconds: Double) = (0, 0, 0)

    static let clean = Network()
    /// All faults at once, drawn anew.
    static func random(_ random: inout SeededNumbers) -> Network {
        var network = Network()
        network.jitterMilliseconds = [0, 1, 5, 20].randomElement(using: &random) ?? 0
        network.lossRatio = [0, 0.02, 0.1, 0.3].randomElement(using: &random) ?? 0
        network.reorderRatio = [0, 0.08].randomElement(using: &random) ?? 0
        network.duplicateRatio = [0, 0.05].randomElement(using: &random) ?? 0
        network.skewPPM = [-300, 0, 300].randomElement(using: &random) ?? 0
        network.stallEveryMilliseconds = [.infinity, 2000].randomElement(using: &random) ?? .infinity
        network.step = (4000, 8000, [-0.0, 80, 300].randomElement(using: &random) ?? 0)
        return network
    }
}

/// A packet on its way.
struct Arriving {
    var milliseconds: Double
    var header: RTPHeader
    var payload: [UInt8]
    /// What it says of its generation.
    var generation: UInt8?

    var time: Duration { .nanoseconds(Int64(milliseconds * 1e6)) }
}

/// A stream as it arrives, in order of arrival.
struct Trace {
    var packets: [Arriving] = []

    /// - Parameters:
    ///   - pauses: Pauses of the sender (start and length in milliseconds), sent as timestamp gaps.
    init(
        seconds: Double, frames: Int = 960, redundant: Bool = false, network: Network, seed: UInt64,
        firstSequence: UInt16 = 65_000, firstTimestamp: UInt32 = 4_294_900_000, source: UInt32 = 1,
        pauses: [(from: Double, length: Double)] = []
    ) {
        var random = SeededNumbers(seed: seed)
        let period = Double(frames) / 48
        var (isBad, stallEnd, nextStall, lastInOrder) = (false, 0.0, network.stallEveryMilliseconds, 0.0)
        var sequence: Int64 = 0
        for index in 0..<Int(seconds * 1000 / period) {
            let media = Double(index) * period
            if pauses.contains(where: { media >= $0.from && media < $0.from + $0.length }) { continue }
            defer { sequence += 1 }
            let position = Int64(index) * Int64(frames)
            let leave = 1 / network.meanBurst
            let enter = leave * network.lossRatio / (1 - network.lossRatio)
            isBad = isBad ? random.uniform() >= leave : random.uniform() < enter
            let sent = media * (1 + network.skewPPM * 1e-6)
            if sent >= nextStall {
                stallEnd = nextStall + 30 + 150 * random.uniform()
                nextStall += random.exponential(mean: network.stallEveryMilliseconds)
            }
            var arrival = sent + 20 + random.exponential(mean: network.jitterMilliseconds)
            if media >= network.step.from && media < network.step.to { arrival += network.step.milliseconds }
            arrival = max(arrival, stallEnd, lastInOrder)
            lastInOrder = arrival
            if random.uniform() < network.reorderRatio { arrival += 15 + 55 * random.uniform() }
            guard !isBad else { continue }
            let packet = Arriving(
                milliseconds: arrival,
                header: RTPHeader(
                    payloadType: 111, marker: false,
                    sequenceNumber: firstSequence &+ UInt16(truncatingIfNeeded: sequence),
                    timestamp: firstTimestamp &+ UInt32(truncatingIfNeeded: position), synchronizationSource: source),
                payload: TonePacket.payload(
                    position: Int64(firstTimestamp) + position, frames: frames, redundant: redundant))
            packets.append(packet)
            if random.uniform() < network.duplicateRatio {
                var copy = packet
                copy.milliseconds += 25 * random.uniform()
                packets.append(copy)
            }
        }
        packets.sort { $0.milliseconds < $1.milliseconds }
    }
}
