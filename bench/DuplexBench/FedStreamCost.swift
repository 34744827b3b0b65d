import VoiceEngine
import VoiceSimulation

/// What streams that an app feeds cost the media thread: an engine that sends them and one that sends none, tick by
/// tick in turn, and beside them the Opus encoders that the streams cannot do without.
struct FedStreamCost {
    let streams: Int
    /// Microseconds per 10 ms of the engine that sends them.
    let sending: Samples
    /// What the streams add, microseconds per 10 ms, over rounds of 1 s.
    let added: Samples
    /// The encoders alone, microseconds per 10 ms, over the same rounds.
    let encoders: Samples
    /// What the streams add for each unit of the encoders alone, over the same rounds.
    let ratio: Samples
    let allocationsPerTick: Double

    private static let warmUpTicks = 500
    private static let ticksPerRound = 100
    private static let rounds = 121

    static func measure(_ configuration: EngineConfiguration, streams: Int) throws -> FedStreamCost {
        let ticks = warmUpTicks + rounds * ticksPerRound
        let duration = Duration.milliseconds(10 * (ticks + 2))
        let stream = OutgoingStreamConfiguration.music
        let engines = [
            try TickEngine(configuration, duration: duration, seed: 1),
            try TickEngine(configuration, duration: duration, seed: 1, fedStreams: streams),
        ]
        let alone = try (0..<streams).map { _ in try LoneEncoder(stream) }
        var music = SyntheticMusic(seed: 1)
        var block = [Float](repeating: 0, count: TickEngine.tickFrames)
        var costs: [[TickEngine.Cost]] = [[], []]
        var encoding: [Int64] = []
        for tick in 0..<ticks {
            var sound = block.mutableSpan
            music.read(into: &sound)
            try engines[1].feed(block.span)
            // Nobody always finds the caches as the other left them.
            for place in 0..<2 {
                let index = tick / 2 % 2 == 0 ? place : 1 - place
                costs[index].append(engines[index].tick())
            }
            encoding.append(try alone.reduce(0) { try $0 + $1.encode(block.span) })
        }
        let sent = engines[1].packetsSent - engines[0].packetsSent
        let wanted = streams * ticks * TickEngine.tickFrames / stream.encoder.frameDuration.frames
        guard abs(sent - wanted) <= 2 * streams else {
            throw Unsent(description: "the fed streams sent \(sent) packets, and \(wanted) were to be sent")
        }
        let kept = costs.map { Array($0[warmUpTicks...]) }
        let (without, with) = (perTick(kept[0].map(\.nanoseconds)), perTick(kept[1].map(\.nanoseconds)))
        let bare = perTick(Array(encoding[warmUpTicks...]))
        let added = zip(with, without).map { $0 - $1 }
        return FedStreamCost(
            streams: streams, sending: Samples(kept[1].map { Double($0.nanoseconds) / 1_000 }),
            added: Samples(added), encoders: Samples(bare), ratio: Samples(zip(added, bare).map { $0 / $1 }),
            allocationsPerTick: Double(kept[1].reduce(0) { $0 + $1.allocations }) / Double(kept[1].count))
    }

    /// Means of rounds, microseconds per tick.
    private static func perTick(_ nanoseconds: [Int64]) -> [Double] {
        stride(from: 0, to: nanoseconds.count, by: ticksPerRound).map { first in
            Double(nanoseconds[first..<first + ticksPerRound].reduce(0, +)) / Double(ticksPerRound) / 1_000
        }
    }

    /// A run that says nothing about what the streams cost, and why.
    private struct Unsent: Error, CustomStringConvertible { let description: String }

    /// An encoder of a stream's settings, which encodes a packet when its sound is complete.
    private final class LoneEncoder {
        private var encoder: OpusEncoder
        private var frame: [Float] = []
        private let frames: Int

        init(_ stream: OutgoingStreamConfiguration) throws {
            encoder = try OpusEncoder(application: stream.application, settings: stream.encoder)
            frames = stream.encoder.frameDuration.frames
            frame.reserveCapacity(frames)
        }

        /// The nanoseconds of encoding; 0 where the packet is not complete.
        func encode(_ block: Span<Float>) throws -> Int64 {
            for index in block.indices { frame.append(block[index]) }
            guard frame.count == frames else { return 0 }
            let frame = frame
            var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketBytes)
            var into = packet.mutableSpan
            var watch = CPUStopwatch()
            _ = try encoder.encode(frame.span, into: &into)
            let time = watch.lap()
            self.frame.removeAll(keepingCapacity: true)
            return time
        }
    }
}
