extension NodeCatalog {
    /// The types that every engine has; docs/graph.md describes them.
    public static let builtIn: NodeCatalog = {
        var catalog = NodeCatalog()
        for type in [
            monoMix, monoCopy, splitter, mixer, gain, meter, processor, detector, recogniser, chunker, waveSink,
            socketSink, farEnd,
        ] {
            do { try catalog.add(type) } catch { preconditionFailure("two built-in types have one name: \(error)") }
        }
        return catalog
    }()

    /// Rates at which sound is processed and speech is told from other sound, Hz.
    private static let speechRates = [16_000, 32_000, 48_000]
    /// Rates that the engine's far ends and converters exchange sound at, Hz.
    private static let exchangeRates = [16_000, 24_000, 48_000]

    private static let monoMix: NodeType = {
        var type = NodeType(
            "MultiChannelToMono", summary: "The mean of all channels; costs nothing where there is one.",
            inputs: [NodePort("input", .any)], outputs: [NodePort("output")])
        type.passesOneChannel = true
        return type
    }()

    private static let monoCopy = NodeType(
        "MonoToMultiChannel", summary: "The same sound in every channel.",
        fields: [
            NodeField("channels", .integer(1...GraphLimits.channels), usual: .integer(2), "How many.")
        ], inputs: [NodePort("input")], outputs: [NodePort("output", .field("channels"))])

    private static let splitter = NodeType(
        "BusSplitter",
        summary:
            "The same sound for several; costs nothing. An output may also be connected to several inputs without it.",
        inputs: [NodePort("input", .any)], outputs: [NodePort("output", .any, isRepeated: true)], isPassThrough: true)

    private static let mixer = NodeType(
        "Mixer", summary: "The sum of its inputs, bounded to full scale.",
        inputs: [NodePort("input", isRepeated: true)], outputs: [NodePort("output")])

    private static let gain = NodeType(
        "Gain", summary: "A gain, which changes without a click.",
        fields: [NodeField("gainDb", .number(-60...24), usual: .number(0), "Decibels.")],
        inputs: [NodePort("input")], outputs: [NodePort("output")],
        actions: [
            NodeAction("setGain", arguments: ["gainDb"], "Changes the gain within a block."),
            NodeAction("mute", "Silence from the next block on."), NodeAction("unmute", "Ends it."),
        ])

    private static let meter = NodeType(
        "LevelMeter", summary: "Tells the level.",
        fields: [NodeField("intervalMs", .integer(20...10_000), usual: .integer(100), "How often.")],
        inputs: [NodePort("input")],
        events: [NodeEvent("level", values: ["start", "end", "rmsDb"], "The RMS of an interval, dBFS, -127 at least.")])

    private static let processor = NodeType(
        "Processor",
        summary:
            "Echo cancellation, noise suppression and gain control, as in a call. With a reference that is what the loudspeaker plays.",
        fields: [
            NodeField(
                "backend", .choice(["native", "webRTC", "speexDSP", "bypass"]), usual: .text("native"),
                "Who cancels the echo."),
            NodeField(
                "echo", .choice(["off", "soft", "medium", "aggressive", "auto"]), usual: .text("off"),
                "How hard; needs the reference."),
            NodeField(
                "noise", .choice(["off", "low", "moderate", "high", "veryHigh"]), usual: .text("moderate"),
                "How much noise is taken away at most."),
            NodeField(
                "gain", .choice(["off", "conversation"]), usual: .text("off"), "Whether speech is brought to -20 dBFS."),
            NodeField("highPass", .bool, usual: .bool(true), "Whether what lies below 75 to 130 Hz is removed."),
        ], inputs: [NodePort("input"), NodePort("reference", isRequired: false)], outputs: [NodePort("output")],
        rates: speechRates, needsWholeBlocks: true)

    private static let detector = NodeType(
        "VAD",
        aliases: ["SileroVAD.SileroVAD", "SileroVAD.VAD", "Silero.VAD"].map {
            NodeAlias($0, notice: "DuplexVoice's speech detector stands in for \($0)")
        }, summary: "Tells when somebody speaks.",
        fields: [
            NodeField(
                "frameSize", .integer(80...4_800),
                "Frames over which probabilities are averaged, 10 to 100 ms; 20 ms where nothing is said."),
            NodeField("threshold", .number(0.01...1), usual: .number(0.5), "Probability from which a frame is speech."),
            NodeField(
                "hysteresis", .number(0...0.99),
                "How far below it a frame is silence; 0.15 where nothing is said, or half of a threshold below 0.3."),
            NodeField(
                "minSilenceDurationMs", .number(0...10_000), usual: .number(100),
                "Silence that ends speech: what is shorter is a pause in it."),
            NodeField(
                "minSpeechDurationMs", .number(0...2_000), usual: .number(60),
                "What is shorter, pauses included, is no speech."),
            NodeField(
                "onsetConfirmationMs", .number(0...2_000), usual: .number(60),
                "Speech, silence among it taken off, before a beginning is told."),
            NodeField(
                "speechPadMs", .number(0...2_000), usual: .number(30), "What belongs to speech before its first frame."),
        ], inputs: [NodePort("input")],
        events: [
            NodeEvent(
                "start", aliases: ["speechStarted"], values: ["start", "end"], "Speech began at `start`; `end` is now."),
            NodeEvent(
                "end", aliases: ["speechEnded"], values: ["start", "end"], "What began at `start` ended at `end`."),
        ], rates: speechRates,
        check: { settings in
            let rate = settings.sampleRate
            let threshold = settings.number("threshold")
            if let size = settings.fields["frameSize"]?.integer, !(rate / 100...rate / 10).contains(size) {
                return GraphFault(
                    field: "frameSize",
                    "is \(size); use 10 to 100 ms, \(rate / 100) to \(rate / 10) frames at \(rate) Hz")
            }
            if let hysteresis = settings.fields["hysteresis"]?.number, hysteresis >= threshold {
                return GraphFault(field: "hysteresis", "is \(hysteresis); use less than the threshold, \(threshold)")
            }
            return nil
        })

    private static let recogniser = NodeType(
        "Recogniser",
        aliases: ["Whisper.WhisperSTT", "Whisper.STT"].map {
            NodeAlias($0, notice: "the engine's recogniser stands in for \($0)")
        },
        summary:
            "Turns what it hears into text, a piece for each `transcribe`. The pieces follow each other without a gap.",
        fields: [
            NodeField(
                "initializeModel", .bool, usual: .bool(true),
                "Whether the model is loaded when the engine is prepared, and not with the first piece."),
            NodeField(
                "useGPU", .bool, ignored: "is taken and has no effect: the recogniser runs on the CPU", "Nothing."),
            NodeField(
                "leadMs", .number(0...2_000), usual: .number(300),
                "How much before `start` the recogniser hears too; what lies before that is left out of it, and counted."
            ),
            NodeField(
                "maximumSeconds", .number(1...60), usual: .number(30),
                "The longest piece; of a longer one the newest part."),
        ], inputs: [NodePort("input")],
        events: [
            NodeEvent(
                "transcribed", aliases: ["transcription"],
                "Words: `text`; the piece from `start` to `end`, of which `heardFrom` on was listened to."),
            NodeEvent("nothingUnderstood", "The same without `text`."),
            NodeEvent("failed", "The recogniser failed: `message`."),
            NodeEvent("overloaded", "A piece was dropped since 8 wait."),
        ],
        actions: [
            NodeAction(
                "transcribe", arguments: ["start", "end"],
                "Recognises what came since the piece before, up to now. From an event that says when speech began, from there on."
            ),
            NodeAction("discard", "Forgets what came since the piece before."),
        ])

    private static let chunker = NodeType(
        "Chunker", summary: "Cuts all that it hears into chunks of 16 kHz, without a gap and without an overlap.",
        fields: [
            NodeField("minimumMs", .integer(100...60_000), usual: .integer(1_000), "No pause is cut in before."),
            NodeField("maximumMs", .integer(200...120_000), usual: .integer(15_000), "The longest chunk."),
        ], inputs: [NodePort("input")],
        events: [NodeEvent("chunk", "A chunk: `start`, `end`, `isSilent`, `isAfterGap`, and its sound.")],
        check: { settings in
            guard settings.integer("minimumMs") >= settings.integer("maximumMs") else { return nil }
            return GraphFault(field: "minimumMs", "must be below maximumMs, \(settings.integer("maximumMs"))")
        })

    /// The type that writes a file: whose path must be no other node's, nor what is read.
    package static let waveSinkName = "WavSink"

    private static let waveSink = NodeType(
        waveSinkName, summary: "Writes a WAV file of 16 bits at the graph's rate.",
        fields: [
            NodeField(
                "path", .path, isRequired: true, "The file, below the engine's folder; sound replaces what is there."),
            NodeField("isRecording", .bool, usual: .bool(true), "Whether it begins to write at once."),
        ], inputs: [NodePort("input")],
        events: [
            NodeEvent("finished", "The file is whole: `path`, `frames`. Not told where no sound came."),
            NodeEvent("failed", "It cannot be written: `message`."),
        ], actions: [NodeAction("start", "Goes on writing."), NodeAction("stop", "Pauses.")])

    private static let socketSink = NodeType(
        "WebSocketSink",
        summary: "Sends what it hears to a WebSocket: a text message of JSON for each 20 to 100 ms, PCM16 in base64.",
        fields: [
            NodeField("url", .text(1_024), isRequired: true, "ws:// or wss://."),
            NodeField("messageMs", .integer(20...100), usual: .integer(40), "How much a message has."),
        ], inputs: [NodePort("input")],
        events: [
            NodeEvent("opened", "It is connected."),
            NodeEvent("failed", "It is lost: `message`. What comes then is dropped."),
        ])

    private static let farEnd = NodeType(
        "FarEnd",
        summary: "A local far end of an engine: what goes in is heard in its mix, what comes out is its near end.",
        fields: [NodeField("name", .text(64), isRequired: true, "What the far end is called by who makes the engine.")],
        inputs: [NodePort("input", isRequired: false)], outputs: [NodePort("output")], rates: exchangeRates)
}
