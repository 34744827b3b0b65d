import VoiceEngine
import VoiceSimulation

/// The way from a mouth to an ear: through A's microphone and processing, Opus, RTP over a room on loopback, B's jitter
/// buffer and loudspeaker.
///
///     mouth ~~air~~> A's microphone ─► engine A ─► room ─► engine B ─► B's loudspeaker ~~air~~> ear
///
/// Mouth and ear are a sound card of their own, whose time stamps tell when the pulse was in the air at either end.
struct EngineLoopback {
    /// What was measured.
    struct Result {
        var tally: LoopbackTally
        var stages: [LatencyStage]
        /// What both engines granted, A's first.
        var formats: [DeviceFormats]
        /// Frames that a loudspeaker lacked and that were silence instead.
        var underrunFrames: Int
        /// Frames of sound that B had to make up.
        var concealedFrames: Int
    }

    /// A and B, as configured but for their devices.
    let engine: EngineConfiguration
    /// A's and B's sound cards.
    let cards: [ALSADeviceConfiguration]
    let mouthAndEar: MouthAndEar

    /// Starts everything, measures and stops. Returns early, with what there is, where the task is cancelled.
    func run(report: @escaping (LoopbackRound, _ number: Int) -> Void) async throws -> Result {
        let room = try LocalRoom()
        defer { room.stop() }
        let engines = cards.map { card in
            var configuration = engine
            configuration.device = .alsa(card)
            return VoiceEngine(configuration)
        }
        do {
            var formats: [DeviceFormats] = []
            for (engine, endpoint) in zip(engines, try ["A", "B"].map(room.endpoint)) {
                do throws(EngineError) {
                    formats.append(try await engine.start())
                    try await engine.join(endpoint)
                } catch {
                    throw Failure(loopback: error)
                }
            }
            let result = try await measure(engines, formats, report: report)
            for engine in engines { await engine.stop() }
            return result
        } catch {
            for engine in engines { await engine.stop() }
            throw error
        }
    }

    private func measure(
        _ engines: [VoiceEngine], _ formats: [DeviceFormats], report: @escaping (LoopbackRound, _ number: Int) -> Void
    ) async throws -> Result {
        var budgets: [(milliseconds: Double, budget: LatencyBudget)] = []
        var tally = try await mouthAndEar.run { round, number in
            report(round, number)
            let (a, b) = (try await statistics(engines[0]), try await statistics(engines[1]))
            if let way = round.milliseconds { budgets.append((way, LatencyBudget(from: a, to: b))) }
        }
        let final = [try await statistics(engines[0]), try await statistics(engines[1])]
        tally.xruns += final.reduce(0) { $0 + $1.device.capture.xruns + $1.device.playback.xruns }
        return Result(
            tally: tally, stages: Self.stages(budgets), formats: formats,
            underrunFrames: final.reduce(0) { $0 + $1.device.playback.underrunFrames },
            concealedFrames: final[1].streams.reduce(0) { $0 + Int($1.playout.concealedSamples) })
    }

    private func statistics(_ engine: VoiceEngine) async throws -> EngineStatistics {
        do throws(EngineError) { return try await engine.statistics() } catch { throw Failure(loopback: error) }
    }

    /// The mean of each stage over the middle half of the rounds, those around the median; empty where a stage was
    /// never known, for then there is no sum.
    static func stages(_ rounds: [(milliseconds: Double, budget: LatencyBudget)]) -> [LatencyStage] {
        let quarter = rounds.count / 4
        let middle = rounds.sorted { $0.milliseconds < $1.milliseconds }.dropFirst(quarter).dropLast(quarter)
        let stages = LatencyBudget.Stage.allCases.compactMap { stage -> LatencyStage? in
            let known = middle.compactMap { $0.budget[stage]?.milliseconds }
            guard !known.isEmpty else { return nil }
            return LatencyStage(stage.words, known.reduce(0, +) / Double(known.count), stage.note)
        }
        return stages.count == LatencyBudget.Stage.allCases.count ? stages : []
    }
}

extension Failure {
    /// A failure of an engine in a measurement.
    fileprivate init(loopback error: EngineError) {
        if case .device(let error) = error { self.init(loopback: error) } else { self.init(error) }
    }

    /// A device that does not work. What the general message offers, calls with files, measures nothing.
    init(loopback error: DeviceError) {
        if case .notFound = error {
            self.init(.unavailable, "\(error); see 'duplex devices'")
        } else {
            self.init(error)
        }
    }
}

extension LatencyBudget.Stage {
    /// The stage's name as people write it: its own, with spaces before capitals.
    var words: String { rawValue.map { $0.isUppercase ? " \($0.lowercased())" : "\($0)" }.joined() }

    /// What the stage consists of.
    fileprivate var note: String {
        switch self {
        case .capture: "A's sound card: a period, wake-ups, capture ring"
        case .frame: "a packet's first frame waits for its last"
        case .processing: "echo, noise and gain"
        case .encoding: "computing time"
        case .codecLookahead: "Opus"
        case .network: "through the room, on loopback"
        case .jitterBuffer: "adaptive"
        case .resampling: "follows B's clock"
        case .playoutRing: "from the jitter buffer to the playback thread"
        case .playbackDevice: "B's sound card: its buffer"
        }
    }
}
