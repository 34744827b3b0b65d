import CDuplexVoice
import Glibc
import Synchronization
import TestCases
import Testing

extension LibraryTests {
    @Suite("Nodes of C's with several ports and channels")
    struct GraphStageTests {
        private typealias Port = StageTypes.Port

        /// Two inputs, one of which need not be connected, and two outputs.
        private static func panner(_ calls: StageCalls) -> StageTypes {
            let types = StageTypes()
            unsafe types.add(
                "App.Panner", [Port("voice", 1), Port("music", 0, isOptional: 1)],
                [Port("stereo", 2), Port("level", 0)],
                { context, block in
                    guard let context = unsafe context else { return }
                    unsafe Unmanaged<StageCalls>.fromOpaque(context).takeUnretainedValue().take(block)
                    let (block, frames) = unsafe (block.pointee, block.pointee.frames)
                    let (voice, music) = unsafe (block.inputs[0], block.inputs[1])
                    let (stereo, level) = unsafe (block.outputs[0], block.outputs[1])
                    for frame in 0..<frames {
                        unsafe stereo.samples[frame] = unsafe voice.samples?[frame] ?? .nan
                        // The last channel that there is.
                        if let music = unsafe music.samples, unsafe block.inputs[1].channels > 0 {
                            let last = unsafe Int(block.inputs[1].channels - 1) * frames
                            unsafe stereo.samples[frames + frame] = unsafe music[last + frame]
                        }
                        unsafe level.samples[frame] = .nan
                    }
                }, context: Unmanaged.passUnretained(calls).toOpaque())
            return types
        }

        private static let panned = GraphTests.description(
            "{\"id\": \"mono\", \"type\": \"MultiChannelToMono\"}, {\"id\": \"pan\", \"type\": \"App.Panner\"}, "
                + "{\"id\": \"meter\", \"type\": \"LevelMeter\"}",
            [
                ("inputNode", "mono"), ("mono", "pan.voice"), ("inputNode", "pan.music"), ("pan.stereo", "outputNode"),
                ("pan.level", "meter"),
            ], channels: 2, speaker: true)

        @Test("Given inputs of one and two channels, then each channel arrives, and each goes out where it was put")
        func severalPorts() throws {
            let calls = StageCalls()
            let types = Self.panner(calls)
            let alone = GraphTests.description(
                "{\"id\": \"mono\", \"type\": \"MultiChannelToMono\"}, {\"id\": \"pan\", \"type\": \"App.Panner\"}",
                [
                    ("inputNode", "mono"), ("mono", "pan.voice"), ("inputNode", "pan.music"),
                    ("pan.stereo", "outputNode"),
                ], channels: 2, speaker: true)
            let graph = try CGraph(alone, types: types)
            #expect(graph.info.output_channels == 2)
            var numbers = SeededNumbers(seed: 5)
            let sound = numbers.noise(2 * 500)
            let output = try graph.push(sound) + graph.finish()
            #expect(output.count == sound.count)
            for frame in 0..<500 {
                let (left, right) = (sound[2 * frame], sound[2 * frame + 1])
                #expect(abs(output[2 * frame] - (left + right) / 2) < 1e-6 && output[2 * frame + 1] == right)
            }
            #expect(calls.blocks.map(\.position) == [0, 160, 320, 480])
            #expect(calls.blocks.allSatisfy { $0.node == "pan" && $0.inputs == [1, 2] && $0.outputs == [2, 1] })
            let size = unsafe MemoryLayout<dv_graph_block>.size
            #expect(calls.blocks.allSatisfy { $0.size == size })
        }

        @Test("Given an input that is not connected, then it is null; what is no number becomes silence")
        func optionalInput() throws {
            let calls = StageCalls()
            let types = Self.panner(calls)
            let graph = try CGraph(
                GraphTests.description(
                    "{\"id\": \"pan\", \"type\": \"App.Panner\"}, {\"id\": \"meter\", \"type\": \"LevelMeter\"}",
                    [("inputNode", "pan.voice"), ("pan.level", "meter"), ("pan.stereo", "outputNode")], speaker: true),
                types: types)
            let told = Told()
            try graph.listen("meter", "level", told)
            let output = try graph.push([Float](repeating: 0.5, count: 1_600))
            #expect(output == (0..<3_200).map { $0 % 2 == 0 ? 0.5 : 0 })
            #expect(calls.blocks.allSatisfy { $0.inputs == [1, 0] })
            #expect(told.events.first?.numbers["rmsDb"] == -127)
        }

        @Test("Given channels that do not fit, then the error names node, port and what is between")
        func wrongChannels() throws {
            for (json, words) in [
                (
                    Self.panned.replacing(
                        "{\"sourceNode\": \"mono\", \"destinationNode\": \"pan.voice\"}",
                        with: "{\"sourceNode\": \"inputNode\", \"destinationNode\": \"pan.voice\"}"),
                    ["node 'pan', 'voice'", "takes 1 channel", "MultiChannelToMono"]
                ),
                (Self.panned, ["node 'meter', 'input'", "takes 1 channel, and 'pan' gives 2"]),
                (Self.panned.replacing("pan.level", with: "pan.loud"), ["App.Panner has no 'loud'; use stereo, level"]),
                (Self.panned.replacing("pan.voice", with: "pan.stereo"), ["has no 'stereo'; use voice, music"]),
            ] {
                do {
                    // `level` has as many channels as the first input that is connected.
                    let changed = json == Self.panned ? json.replacing("pan.level", with: "pan.stereo") : json
                    _ = try CGraph(changed, types: Self.panner(StageCalls()))
                    Issue.record("taken: \(words)")
                } catch let refusal as Refusal {
                    #expect(words.allSatisfy { refusal.message.contains($0) }, "\(refusal.message)")
                }
            }
        }

        @Test("Given an array or a type that is wrong, then it is refused with its name, and nothing is called")
        func misuse() throws {
            let ok = [Port("input", 1)]
            let cases: [(String, [Port], [Port], isNamed: Bool, hasProcess: Bool, words: String)] = [
                ("App.X", ok, ok, false, true, "config.stage_types[0] has no name"),
                ("", ok, ok, true, true, "config.stage_types[0] has no name"),
                ("App.X", ok, ok, true, false, "'App.X' has no process"),
                ("App.X", [], [], true, true, "no input and no output"),
                ("Gain", ok, ok, true, true, "'Gain'"),
                ("App.X", [Port("a", 1), Port("a", 1)], ok, true, true, "'App.X'.inputs has 'a' twice"),
                ("App.X", [Port("a.b", 1)], ok, true, true, "'a.b'"),
                ("App.X", [Port("a", 9)], ok, true, true, "'App.X'.inputs.a has 9 channels; take 0 to 8"),
                ("App.X", [Port("a", 1, isOptional: 2)], ok, true, true, "is_optional is 2"),
                ("App.X", ok, [Port("b", 1, isOptional: 1)], true, true, "output 'b' of type 'App.X' is optional"),
                ("App.X", ok, [Port(nil, 1)], true, true, "'App.X'.outputs[0] has no name"),
                (
                    "App.X", (0..<17).map { Port("p\($0)", 1) }, ok, true, true,
                    "'App.X'.inputs has 17 elements; give up to 16"
                ),
            ]
            let plain = GraphTests.description(
                "{\"id\": \"gain\", \"type\": \"Gain\"}", [("inputNode", "gain"), ("gain", "outputNode")], speaker: true
            )
            for (name, inputs, outputs, isNamed, hasProcess, words) in cases {
                let types = StageTypes()
                unsafe types.add(isNamed ? name : nil, inputs, outputs, hasProcess ? { _, _ in abort() } : nil)
                do {
                    _ = try CGraph(plain, types: types)
                    Issue.record("taken: \(words)")
                } catch let refusal as Refusal {
                    #expect(refusal.status == DV_INVALID_ARGUMENT)
                    #expect(refusal.message.contains(words), "\(refusal.message)")
                }
            }
            for (start, count, words) in [
                (false, 1, "config.stage_types is null and its count 1"), (true, 65, "has 65 elements; give up to 64"),
                (true, -1, "has 18446744073709551615 elements"),
            ] {
                let types = StageTypes()
                unsafe types.add("App.X", ok, ok, { _, _ in abort() })
                types.lie = (start, count)
                do {
                    _ = try CGraph(plain, types: types)
                    Issue.record("taken: \(words)")
                } catch let refusal as Refusal { #expect(refusal.message.contains(words), "\(refusal.message)") }
            }
            // A program of before knows no stage types.
            let types = StageTypes()
            types.lie = (true, -1)
            let before = try CGraph(plain, types: types, size: 72)
            #expect(try before.push([Float](repeating: 0.5, count: 160)).count == 160)
        }
    }
}

/// What a function of C's was called with.
final class StageCalls: Sendable {
    struct Block {
        var size: Int
        var node: String
        var position: UInt64
        var inputs: [UInt32]
        var outputs: [UInt32]
    }

    private let all = Mutex<[Block]>([])
    var blocks: [Block] { all.withLock { $0 } }

    func take(_ block: UnsafePointer<dv_graph_block>) {
        let block = unsafe block.pointee
        let seen = unsafe Block(
            size: Int(block.size), node: String(cString: block.node), position: block.position,
            inputs: (0..<block.input_count).map { unsafe block.inputs[$0].channels },
            outputs: (0..<block.output_count).map { unsafe block.outputs[$0].channels })
        all.withLock { $0.append(seen) }
    }
}

/// An array of `dv_graph_stage_type` in C's memory.
@safe
final class StageTypes {
    struct Port {
        var name: String?
        var channels: UInt32
        var isOptional: UInt32

        init(_ name: String?, _ channels: UInt32, isOptional: UInt32 = 0) {
            (self.name, self.channels, self.isOptional) = (name, channels, isOptional)
        }
    }

    private var types: UnsafeMutablePointer<dv_graph_stage_type>
    private var made = 0
    private var memory: [UInt] = []
    /// What is said in place of the array and its count.
    var lie: (hasStart: Bool, count: Int)?

    var start: UnsafePointer<dv_graph_stage_type>? { lie?.hasStart == false ? nil : unsafe UnsafePointer(types) }
    var count: Int { lie?.count ?? made }

    init() { unsafe types = .allocate(capacity: 64) }

    deinit {
        for piece in memory { unsafe free(UnsafeMutableRawPointer(bitPattern: piece)) }
        unsafe types.deallocate()
    }

    func add(
        _ name: String?, _ inputs: [Port], _ outputs: [Port], _ process: dv_graph_stage?,
        context: UnsafeMutableRawPointer? = nil
    ) {
        unsafe (types + made).initialize(
            to: dv_graph_stage_type(
                name: name.flatMap { unsafe keep($0) }, inputs: keep(inputs), input_count: inputs.count,
                outputs: keep(outputs), output_count: outputs.count, process: process, context: context))
        made += 1
    }

    private func keep(_ text: String) -> UnsafePointer<CChar>? {
        guard let copy = unsafe strdup(text) else { return nil }
        memory.append(UInt(bitPattern: copy))
        return unsafe UnsafePointer(copy)
    }

    private func keep(_ ports: [Port]) -> UnsafePointer<dv_graph_port>? {
        guard let raw = unsafe malloc(max(1, ports.count) * MemoryLayout<dv_graph_port>.stride) else { return nil }
        memory.append(UInt(bitPattern: raw))
        let copies = unsafe raw.bindMemory(to: dv_graph_port.self, capacity: max(1, ports.count))
        for (index, port) in ports.enumerated() {
            unsafe (copies + index).initialize(
                to: dv_graph_port(
                    name: port.name.flatMap { unsafe keep($0) }, channels: port.channels, is_optional: port.isOptional))
        }
        return unsafe UnsafePointer(copies)
    }
}
