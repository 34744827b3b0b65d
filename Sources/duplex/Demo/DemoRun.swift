import SimulatedCalls
import VoiceEngine
import VoiceRealtime
import VoiceSimulation

/// Two engines in real time, and what came of it.
struct DemoRun {
    private typealias Card = SimulatedDevice<ConversationAir>

    private let options: Demo
    private let script: DemoScript
    private let speech: DemoSpeech
    private static let files = ["a-said.wav", "a-microphone-before.wav", "a-as-b-hears-it-after.wav", "b-said.wav"]
    /// Silence is recorded until both are in the room; more than ever needed on loopback.
    private static let joining = 5.0

    init(_ options: Demo) throws {
        self.options = options
        try OutputFolder.make(options.output, option: "--output", for: Self.files)
        script = DemoScript(length: options.seconds)
        speech = DemoSpeech(seconds: options.seconds, seed: options.seed)
    }

    func run() async throws -> DemoReport {
        let room = try LocalRoom()
        defer { room.stop() }
        let endpoints = try ["A", "B"].map { try room.endpoint(for: $0) }
        let cards = try [RoomConditions.office, .livingRoom].enumerated().map { try card($0.offset, in: $0.element) }
        let engines = cards.map { VoiceEngine(Self.configuration(device: $0)) }
        do throws(EngineError) {
            for (engine, endpoint) in zip(engines, endpoints) {
                try await engine.start()
                try await engine.join(endpoint)
            }
        } catch {
            for engine in engines { await engine.stop() }
            throw Failure(error)
        }
        await talk()
        var sides: [DemoSide] = []
        for (engine, card) in zip(engines, cards) {
            guard let statistics = try? await engine.statistics(), let start = card.startTime else { continue }
            sides.append(
                DemoSide(recording: card.withAir { $0.recording }, statistics: statistics, start: start.nanoseconds))
        }
        for engine in engines { await engine.stop() }
        guard sides.count == 2 else { throw Failure(.unavailable, "an engine stopped during the demo") }
        return try report(DemoJudge(script: script, a: sides[0], b: sides[1]))
    }

    /// 10 ms frames for little delay, and all of echo, noise and gain processing.
    private static func configuration(device: Card) -> EngineConfiguration {
        var configuration = EngineConfiguration.voiceAgent
        configuration.memoryLock = .process
        configuration.device = .custom(device)
        return configuration
    }

    private func card(_ side: Int, in conditions: RoomConditions) throws -> Card {
        var room = conditions
        // The card's own buffers are in its timestamps; what is left are converters, which no timestamp shows.
        room.bulkDelayFrames = 96
        let air = ConversationAir(
            acoustics: try RoomAcoustics(room, seed: options.seed &+ UInt64(side)),
            talker: SpeechSource(script.part(of: side, speech: speech.talkers[side]), repetition: .once),
            longestRecording: Int((options.seconds + Self.joining) * 48_000))
        return try Card(air: air, configuration: SimulatedDeviceConfiguration(pacing: .realTime(priority: 71)))
    }

    private func talk() async {
        let start = ContinuousClock.now
        for second in 0..<Int(options.seconds.rounded(.up)) {
            Console.progress("talking: \(second) of \(Int(options.seconds)) s")
            try? await Task.sleep(until: start + .seconds(min(Double(second + 1), options.seconds)))
        }
        Console.endProgress()
    }

    private func report(_ judge: DemoJudge) throws -> DemoReport {
        let recordings = [
            judge.a.recording.near, judge.a.recording.microphone, judge.b.recording.speaker, judge.b.recording.near,
        ]
        for (name, samples) in zip(Self.files, recordings) {
            do throws(AudioFileError) {
                try AudioFile.write(samples, to: "\(options.output)/\(name)")
            } catch {
                throw Failure(error)
            }
        }
        return DemoReport(
            judge, seconds: options.seconds, speech: speech.origin, files: Self.files.map { "\(options.output)/\($0)" })
    }
}

extension DemoReport {
    init(_ judge: DemoJudge, seconds: Double, speech: String, files: [String]) {
        let both = [judge.a.statistics, judge.b.statistics]
        self.seconds = seconds
        self.speech = speech
        self.files = files
        erleDb = judge.echoReturnLossEnhancement
        voiceKeptRatio = judge.voiceKept
        stages = judge.stages
        mouthToEarMs = judge.mouthToEarMilliseconds
        packetsSent = both.reduce(0) { $0 + $1.uplink.packetsSent }
        packetsLost = both.reduce(0) { $0 + $1.streams.reduce(0) { $0 + Int($1.playout.packetsLost) } }
        concealedRatio = judge.b.statistics.streams.concealedRatio
        xruns = both.reduce(0) { $0 + $1.device.capture.xruns + $1.device.playback.xruns }
        underrunFrames = both.reduce(0) { $0 + $1.device.playback.underrunFrames }
        let counted = both.compactMap(\.media.allocations)
        let ticks = both.reduce(0) { $0 + $1.media.ticks }
        allocationsPerTick =
            counted.count == both.count && ticks > 0 ? Double(counted.reduce(0, +)) / Double(ticks) : nil
        let busy = both.reduce(0.0) { $0 + $1.media.cpuTime.milliseconds } / Double(both.count)
        mediaCpuRatio = busy / (Double(judge.a.recording.frames) / 48)
        referenceDelayFrames = judge.a.statistics.uplink.referenceDelayFrames
        referenceConfidence = Double(judge.a.statistics.uplink.alignment?.confidence ?? 0)
    }

    /// The report for people.
    var lines: [String] {
        func decimal(_ value: Double?, _ unit: String, _ scale: Double = 1) -> String {
            value.map { "\(($0 * scale).rounded(toPlaces: 1)) \(unit)" } ?? "not measured"
        }
        var table = Table()
        table.add("echo removed (B does not hear itself)", decimal(erleDb, "dB"), "25 dB and more is hardly audible")
        table.add(
            "A's voice kept while both speak", decimal(voiceKeptRatio, "%", 100),
            "share of A's speech that arrives at B")
        table.add("from A's mouth to B's ear", decimal(mouthToEarMs, "ms"), "measured; by stage:")
        table.add(
            "  microphone to network", decimal(stages.microphoneToNetwork, "ms"), "one codec frame, device, rings")
        table.add("  echo, noise and gain", decimal(stages.processing, "ms"), "delay of the processing")
        table.add("  codec look-ahead", decimal(stages.codecLookahead, "ms"), "Opus")
        table.add("  network", decimal(stages.network, "ms"), "loopback, through the room")
        table.add("  jitter buffer", decimal(stages.jitterBuffer, "ms"), "adaptive")
        table.add("  jitter buffer to loudspeaker", decimal(stages.pullToSpeaker, "ms"), "ring and device")
        table.add("  sum of the stages", decimal(stages.sum, "ms"), "each measured by itself")
        table.add("packets lost", "\(packetsLost) of \(packetsSent)", "")
        table.add("sound invented for lost packets", decimal(concealedRatio, "%", 100), "")
        table.add("device xruns, frames missing", "\(xruns), \(underrunFrames)", "0 and 0 is perfect")
        table.add("CPU of the media thread, each engine", decimal(mediaCpuRatio, "%", 100), "of one core")
        table.add("allocations per tick", decimal(allocationsPerTick, "", 1), "0 is real-time safe")
        return ["\(Int(seconds)) s of talk between two simulated rooms, with \(speech)", ""] + table.lines
            + ["", "Listen, before and after:"] + files.map { "  \($0)" }
    }
}
