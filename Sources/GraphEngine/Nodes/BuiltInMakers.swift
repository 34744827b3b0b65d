/// What makes the built-in nodes; `BusSplitter` is none, since its outputs are its input.
enum BuiltInMakers {
    static let all: [String: NodeLibrary.Make] = [
        "MultiChannelToMono": { _ in MonoMixNode() },
        "MonoToMultiChannel": { _ in MonoCopyNode() },
        "Mixer": { _ in MixerNode() },
        "Gain": { setup in GainNode(setup) },
        "LevelMeter": { setup in LevelMeterNode(setup) },
        "Processor": { setup throws(GraphError) in try ProcessorNode(setup) },
        "VAD": { setup in DetectorNode(setup) },
        "Recogniser": { setup throws(GraphError) in try RecogniserNode(setup) },
        "Chunker": { setup throws(GraphError) in try ChunkerNode(setup) },
        NodeCatalog.waveSinkName: { setup throws(GraphError) in try WaveSinkNode(setup) },
        "WebSocketSink": { setup throws(GraphError) in try SocketSinkNode(setup) },
        "FarEnd": { setup throws(GraphError) in try FarEndNode(setup) },
    ]
}
