import ArgumentParser
import GraphEngine
import VoiceDevices
import VoiceEngine
import VoicePartner

/// Runs a graph over a file, or on a sound card.
struct GraphRun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a graph over a sound file, in the file's own time, or on a sound card until Control-C.",
        discussion: """
            Prints every event: what a recogniser understood, when somebody spoke, what was cut and written. With --json as NDJSON with a summary last; stand-ins and \
            fields that have no effect are events named `notice`.

            A Recogniser node is pocketsphinx with --grammar; without one with the commands of 'duplex talk', and with --dictation anything.

            For example:

              duplex graph run commands.json --input commands.wav --grammar commands.jsgf
            """)

    @OptionGroup var file: GraphFile
    @Option(help: "A sound file in place of the sound card.", completion: .file()) var input: String?
    @Option(help: "Where to write what outputNode gets, WAV; with --input.", completion: .file()) var output: String?
    @Option(help: "The folder that the paths of the graph's nodes are below.", completion: .directory)
    var folder = "."
    @Option(help: "A grammar (JSGF) of what is listened for.", completion: .file()) var grammar: String?
    @Flag(help: "Listen for anything where the grammar's commands were not said. Slow, and often wrong.")
    var dictation = false
    @Option(help: "ALSA PCM to capture from. (default: default)") var capture: String?
    @Option(help: "ALSA PCM to play to. (default: default)") var playback: String?
    @OptionGroup var channels: CaptureChannels
    @Flag(help: "Print NDJSON: a line for each event, then a summary.") var json = false

    func validate() throws {
        if output != nil, input == nil { throw ValidationError("--output is of what --input gives; give both") }
        guard input == nil || (capture == nil && playback == nil && channels.mix == nil) else {
            throw ValidationError(
                "--capture, --capture-channels and --playback are of a sound card, which --input replaces; use either")
        }
    }

    func run() async throws {
        try await reportingFailure {
            let description = try file.description()
            let sinks = description.nodes.filter { $0.type.name == NodeCatalog.waveSinkName }
            guard listens(description) || (grammar == nil && !dictation) else {
                throw Failure(
                    .usage, "\(file.path) has no Recogniser, which --grammar and --dictation are of; leave them out")
            }
            try checkEnds(description)
            try check(sinks)
            let log = GraphLog(json: json, rate: description.sampleRate, sinks: Set(sinks.map(\.settings.id)))
            let engine: GraphEngine
            do throws(GraphError) {
                engine = try GraphEngine(description, .builtIn, try environment(description))
                try engine.addEventListener("*", "*") { log.show($0) }
                try await engine.prepare()
            } catch {
                throw Failure(error, in: file.path)
            }
            if let input { try await run(engine, over: input, log) } else { try await runLive(engine) }
            log.end()
            if let loss = log.loss { throw Failure(.thresholdMissed, loss) }
        }
    }

    /// Looks at what is read and written beside the graph's own files, before those are made.
    private func checkEnds(_ description: GraphDescription) throws {
        guard let input else { return }
        guard description.hasInput else {
            throw Failure(.inputUnusable, "\(file.path): nothing comes in: set config.microphoneEnabled to true")
        }
        try InputFile.checkHoldsSound(input, isReadOnce: description.inputChannels == 1)
        guard let output else { return }
        try OutputFile.checkIsWAV(output, option: "--output")
        try OutputFile.check(output, option: "--output")
        try OutputFile.check(output, option: "--output", isNoneOf: [input])
    }

    /// Before anything is written.
    private func check(_ sinks: [GraphDescription.Node]) throws {
        var outputs = [(option: "--output", path: output)]
        for node in sinks {
            let path = "\(folder)/\(node.settings.text("path"))"
            let option = "the path of \(node.settings.id)"
            try OutputFile.check(path, option: option)
            try OutputFile.check(path, option: option, isNoneOf: [input, file.path, grammar].compactMap { $0 })
            outputs.append((option, path))
        }
        try OutputFile.checkAreApart(outputs)
    }

    private func listens(_ description: GraphDescription) -> Bool {
        description.nodes.contains { $0.type.name == "Recogniser" }
    }

    private func environment(_ description: GraphDescription) throws(GraphError) -> GraphEnvironment {
        guard listens(description) else { return GraphEnvironment(folder: folder) }
        let text: String
        do { text = try grammar.map(OfflineOptions.read) ?? DialogueCore.grammar } catch {
            throw GraphError(field: "--grammar", (error as? Failure)?.message ?? "\(error)")
        }
        return GraphEnvironment(
            recogniser: PocketsphinxRecogniser(dictation ? .grammarOrDictation(text) : .grammar(text)), folder: folder)
    }

    private func run(_ engine: GraphEngine, over input: String, _ log: GraphLog) async throws {
        do {
            log.ran(frames: try await engine.run(file: input, output: output))
        } catch let error as AudioFileError {
            throw Failure(error)
        } catch let error as GraphError {
            throw Failure(error, in: file.path)
        }
    }

    private func runLive(_ engine: GraphEngine) async throws {
        let interruption = Interruption()
        var configuration = EngineConfiguration.voiceAgent
        var card = ALSADeviceConfiguration()
        (card.captureName, card.playbackName) = (capture ?? "default", playback ?? "default")
        channels.apply(to: &card)
        configuration.device = .alsa(card)
        let voice = VoiceEngine(configuration)
        let events = voice.events
        do throws(EngineError) { _ = try await voice.start() } catch { throw Failure(error) }
        do { try await engine.start(on: voice) } catch {
            await voice.stop()
            if let fault = error as? GraphError { throw Failure(fault, in: file.path) }
            throw Failure(.unavailable, "the engine has no far end for the graph: \(error)")
        }
        let failure = await firstEnding(interruption, events)
        await engine.stop()
        await voice.stop()
        if let failure { throw failure }
    }

    /// Between two looks whether somebody still reads what is told.
    private static let period = Duration.milliseconds(200)

    /// Until a signal, or nobody reads what is told; or until the sound card is gone for good, with why.
    private func firstEnding(_ interruption: Interruption, _ events: EventStream) async -> Failure? {
        await withTaskGroup(of: Failure?.self) { group in
            group.addTask {
                await interruption.wait()
                return nil
            }
            group.addTask {
                while !Console.isUnread {
                    do { try await Task.sleep(for: Self.period) } catch { return nil }
                }
                return nil
            }
            group.addTask { await Self.watch(events) }
            let failure = await group.next() ?? nil
            group.cancelAll()
            return failure
        }
    }

    /// Tells what is wrong with the sound.
    private static func watch(_ events: EventStream) async -> Failure? {
        for await event in events {
            switch event {
            case .degraded(let degradation): Console.complain("warning: \(degradation.text)")
            case .deviceLost(let loss) where loss.policy == .fixed: return Failure(loss.reason)
            case .deviceLost(let loss): Console.complain("warning: \(loss.text)")
            default: break
            }
        }
        return nil
    }
}
