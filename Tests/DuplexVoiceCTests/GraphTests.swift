import CDuplexVoice
import Glibc
import Synchronization
import TestCases
import Testing

extension LibraryTests {
    @Suite("Graphs")
    struct GraphTests {
        /// A graph of 16 kHz in blocks of 160 frames.
        static func description(
            _ nodes: String, _ connections: [(String, String)], channels: Int = 1, speaker: Bool = false
        ) -> String {
            let links = connections.map { "{\"sourceNode\": \"\($0.0)\", \"destinationNode\": \"\($0.1)\"}" }
            return """
                {"type": "VoiceGraph", "config": {"microphoneEnabled": true, "speakerEnabled": \(speaker),
                 "inputChannels": \(channels), "graph": {"config": {"sampleRate": 16000, "bufferSize": 160},
                 "nodes": [\(nodes)], "connections": [\(links.joined(separator: ","))]}}}
                """
        }

        private let half = description(
            "{\"id\": \"mono\", \"type\": \"MultiChannelToMono\"}, "
                + "{\"id\": \"gain\", \"type\": \"Gain\", \"config\": {\"gainDb\": -6.0206}}",
            [("inputNode", "mono"), ("mono", "gain"), ("gain", "outputNode")], channels: 2, speaker: true)

        @Test("Given two channels, a mix-down and a gain, then what goes out is what arithmetic says")
        func arithmetic() throws {
            let graph = try CGraph(half)
            #expect(graph.info.sample_rate == 16_000 && graph.info.block_frames == 160)
            #expect(graph.info.input_channels == 2 && graph.info.output_channels == 1)
            var numbers = SeededNumbers(seed: 1)
            let sound = numbers.noise(2 * 1_000)
            let output = try graph.push(sound) + graph.finish()
            #expect(output.count == 1_000)
            for index in output.indices {
                #expect(abs(output[index] - (sound[2 * index] + sound[2 * index + 1]) / 4) < 1e-4)
            }
        }

        @Test("Given a wrong description, then the error names node, field and what is allowed, and there is no graph")
        func faults() throws {
            let broken = half.replacing("-6.0206", with: "99").replacing("MultiChannelToMono", with: "Tea")
            do {
                _ = try CGraph(broken)
                Issue.record("a wrong description was taken")
            } catch let refusal as Refusal {
                #expect(refusal.status == DV_INVALID_ARGUMENT)
                #expect(refusal.message.contains("node 'gain', 'gainDb'"), "\(refusal.message)")
                #expect(refusal.message.contains("node 'mono', 'type'"), "\(refusal.message)")
            }
            #expect(throws: Refusal.self) { try CGraph("{") }
            let unheard = Self.description(
                "{\"id\": \"stt\", \"type\": \"Recogniser\"}", [("inputNode", "stt")])
            do {
                _ = try CGraph(unheard)
                Issue.record("a recogniser was found")
            } catch let refusal as Refusal {
                #expect(refusal.message.contains("node 'stt'"), "\(refusal.message)")
            }
        }

        @Test("Given listeners by name, then each is called with its events and values until it is removed")
        func listeners() throws {
            let graph = try CGraph(
                Self.description("{\"id\": \"meter\", \"type\": \"LevelMeter\"}", [("inputNode", "meter")]))
            let (levels, all) = (Told(), Told())
            let number = try graph.listen("meter", "level", levels)
            try graph.listen("*", "*", all)
            let sound = (0..<3_200).map { $0 % 2 == 0 ? Float(0.5) : -0.5 }
            _ = try graph.push(sound)
            #expect(levels.events.map(\.event) == ["level", "level"])
            #expect(levels.events.map { $0.numbers["start"] } == [0, 0.1])
            #expect(abs((levels.events[0].numbers["rmsDb"] ?? 0) + 6.02) < 0.01)
            #expect(dv_graph_remove_listener(graph.handle, number) == DV_OK)
            #expect(dv_graph_remove_listener(graph.handle, number) == DV_INVALID_ARGUMENT)
            _ = try graph.push(sound)
            _ = try graph.finish()
            _ = try graph.finish()
            #expect(levels.events.count == 2 && all.events.filter { $0.event == "finished" }.count == 1)
            #expect(all.events.first?.event == "started" && all.events.last?.event == "finished")
            #expect(all.events.filter { $0.node == "meter" }.count == 4)
            #expect(throws: Refusal.self) { try graph.listen("meter", "melody", all) }
            #expect(text(graph.error).contains("use level"), "\(text(graph.error))")
        }

        @Test("Given an action by name, then it is carried out before the next block; what is none is named")
        func actions() throws {
            let graph = try CGraph(half)
            let ones = [Float](repeating: 0.5, count: 2 * 160)
            #expect(abs(try graph.push(ones).last! - 0.25) < 1e-3)
            #expect(graph.call("gain", "setGain", ["gainDb": 0]) == DV_OK)
            _ = try graph.push(ones)
            #expect(abs(try graph.push(ones).last! - 0.5) < 1e-3)
            #expect(graph.call("gain", "sing") == DV_INVALID_ARGUMENT)
            #expect(text(graph.error).contains("setGain"), "\(text(graph.error))")
            #expect(graph.call("gain", "setGain", ["pitch": 1]) == DV_INVALID_ARGUMENT)
            #expect(graph.call("gain", "setGain", ["gainDb": .nan]) == DV_INVALID_ARGUMENT)
            #expect(graph.call("nobody", "setGain") == DV_INVALID_ARGUMENT)
        }

        @Test("Given a recogniser and a node of the program's, then they are called with the sound and are heard of")
        func own() throws {
            let description = Self.description(
                "{\"id\": \"turned\", \"type\": \"App.Inverter\"}, {\"id\": \"stt\", \"type\": \"Whisper.WhisperSTT\"}",
                [("inputNode", "turned"), ("turned", "stt"), ("turned", "outputNode")], speaker: true)
            let graph = try CGraph(description, own: true)
            let told = Told()
            try graph.listen("stt", "*", told)
            var numbers = SeededNumbers(seed: 2)
            let sound = numbers.noise(1_600)
            var output = try graph.push(sound)
            #expect(graph.call("stt", "transcribe") == DV_OK)
            output += try graph.push(sound)
            #expect(output == (sound + sound).map { -$0 })
            let heard = try #require(told.events.first { $0.event == "transcribed" })
            #expect(heard.texts["text"] == "1600 frames" && heard.numbers["end"] == 0.1)
            #expect(told.events.filter { $0.event == "notice" }.map(\.node) == ["stt"])
        }

        @Test("Given a file that is not there, or that is to be written over, then the error has its name and remedy")
        func namesOfFileErrors() throws {
            let graph = try CGraph(
                Self.description("{\"id\": \"meter\", \"type\": \"LevelMeter\"}", [("inputNode", "meter")]))
            let file = "/nowhere.wav"
            var error = dv_error()
            #expect(unsafe dv_graph_run_file(graph.handle, file, nil, nil, &error) == DV_DEVICE_FAILED)
            #expect(text(of: error.code) == "file.missing" && text(of: error.remedy) == "check the path")
            #expect(unsafe dv_graph_run_file(graph.handle, file, file, nil, &error) == DV_DEVICE_FAILED)
            #expect(text(of: error.code) == "file.unwritable" && text(of: error.remedy) == "choose another place")
        }

        @Test("Given a call of a listener that would wait for the graph, then it is refused and nothing is stuck")
        func refusedFromListeners() throws {
            let graph = try CGraph(
                Self.description("{\"id\": \"meter\", \"type\": \"LevelMeter\"}", [("inputNode", "meter")]))
            let told = Told()
            let handle = graph.handle
            told.reaction.withLock {
                $0 = {
                    [
                        unsafe dv_graph_push(handle, [0], 1, nil, 0, nil, nil),
                        dv_graph_finish(handle, nil, 0, nil, nil), dv_graph_stop(handle, nil),
                        unsafe dv_graph_run_file(handle, "none.wav", nil, nil, nil), dv_graph_destroy(handle),
                    ]
                }
            }
            try graph.listen("meter", "level", told)
            _ = try graph.push([Float](repeating: 0, count: 1_600))
            #expect(told.reactions == Array(repeating: DV_WRONG_STATE, count: 5))
            #expect(try graph.finish().isEmpty)
            #expect(graph.pushStatus([0]) == DV_WRONG_STATE)
            #expect(text(graph.error).contains("finished"))
        }
    }
}

/// What listeners of C's were told.
final class Told: Sendable {
    struct Event: Equatable {
        var node: String
        var event: String
        var numbers: [String: Double] = [:]
        var texts: [String: String] = [:]
    }

    private let state = Mutex<([Event], [dv_status])>(([], []))
    /// Done at the first event.
    let reaction = Mutex<(@Sendable () -> [dv_status])?>(nil)

    var events: [Event] { state.withLock { $0.0 } }
    var reactions: [dv_status] { state.withLock { $0.1 } }

    func take(_ event: Event) {
        let statuses = reaction.withLock { $0.take() }?() ?? []
        state.withLock { state in
            state.0.append(event)
            state.1 += statuses
        }
    }
}

/// A graph as C has it, destroyed in the end.
final class CGraph {
    let handle: dv_graph
    private(set) var error = dv_error()
    private var listeners: [Told] = []

    /// - Parameter types: stands where C's array would.
    init(_ json: String, types: StageTypes, size: Int? = nil) throws {
        var config = unsafe dv_graph_config()
        unsafe config.size = UInt32(size ?? MemoryLayout<dv_graph_config>.size)
        unsafe (config.stage_types, config.stage_type_count) = (types.start, types.count)
        var (made, failure): (dv_graph, dv_error) = (7, dv_error())
        let status = unsafe dv_graph_create(json, &config, &made, &failure)
        handle = made
        guard status == DV_OK else {
            #expect(made == 0)
            throw Refusal(status: status, message: text(failure))
        }
    }

    init(_ json: String, own: Bool = false, farEnd: dv_far_end? = nil) throws {
        var config = unsafe dv_graph_config()
        unsafe config.size = UInt32(MemoryLayout<dv_graph_config>.size)
        if own {
            unsafe config.recogniser = { _, _, frames, text in
                for (place, byte) in "\(frames) frames\0".utf8.enumerated() {
                    unsafe text[place] = CChar(bitPattern: byte)
                }
                return 0
            }
        }
        var made: dv_graph = 7
        var failure = dv_error()
        let status = unsafe "App.Inverter".withCString { inverter in
            unsafe "agent".withCString { agent in
                var type = unsafe dv_graph_node_type(
                    name: inverter,
                    process: { _, _, input, output, frames in
                        for frame in 0..<frames { unsafe output[frame] = -input[frame] }
                    }, context: nil)
                var far = unsafe dv_graph_far_end(name: agent, far_end: farEnd ?? 0)
                return unsafe withUnsafePointer(to: &type) { type in
                    unsafe withUnsafePointer(to: &far) { far in
                        if own { unsafe (config.node_types, config.node_type_count) = (type, 1) }
                        if farEnd != nil { unsafe (config.far_ends, config.far_end_count) = (far, 1) }
                        return unsafe dv_graph_create(json, &config, &made, &failure)
                    }
                }
            }
        }
        handle = made
        guard status == DV_OK else {
            #expect(made == 0)
            throw Refusal(status: status, message: text(failure))
        }
    }

    deinit { if handle != 0 { #expect(dv_graph_destroy(handle) == DV_OK) } }

    var info: dv_graph_info {
        var info = dv_graph_info()
        info.size = UInt32(MemoryLayout<dv_graph_info>.size)
        #expect(unsafe dv_graph_get_info(handle, &info) == DV_OK)
        return info
    }

    @discardableResult
    func listen(_ node: String, _ event: String, _ told: Told) throws -> UInt64 {
        listeners.append(told)
        var number: UInt64 = 0
        let context = unsafe Unmanaged.passUnretained(told).toOpaque()
        let status = unsafe dv_graph_add_listener(
            handle, node, event,
            { context, event in
                guard let context = unsafe context else { return }
                var told = unsafe Told.Event(
                    node: String(cString: event.pointee.node), event: String(cString: event.pointee.event))
                for index in unsafe 0..<event.pointee.value_count {
                    let value = unsafe event.pointee.values[index]
                    let name = unsafe String(cString: value.name)
                    if let text = unsafe value.text {
                        told.texts[name] = unsafe String(cString: text)
                    } else {
                        told.numbers[name] = unsafe value.number
                    }
                }
                unsafe Unmanaged<Told>.fromOpaque(context).takeUnretainedValue().take(told)
            }, context, &number, &error)
        guard status == DV_OK else { throw Refusal(status: status, message: text(error)) }
        return number
    }

    func call(_ node: String, _ action: String, _ numbers: [String: Double] = [:]) -> dv_status {
        guard let (name, number) = numbers.first else {
            return unsafe dv_graph_call_action(handle, node, action, nil, 0, &error)
        }
        return unsafe name.withCString { name in
            var value = unsafe dv_graph_value(name: name, text: nil, number: number)
            return unsafe dv_graph_call_action(handle, node, action, &value, 1, &error)
        }
    }

    func pushStatus(_ sound: [Float]) -> dv_status {
        unsafe dv_graph_push(handle, sound, sound.count / Int(info.input_channels), nil, 0, nil, &error)
    }

    func push(_ sound: [Float]) throws -> [Float] {
        let frames = sound.count / Int(info.input_channels)
        return try unsafe output(of: frames + Int(info.block_frames)) { output, room, given in
            unsafe dv_graph_push(handle, sound, frames, output, room, given, &error)
        }
    }

    func finish() throws -> [Float] {
        try unsafe output(of: Int(info.block_frames)) { output, room, given in
            unsafe dv_graph_finish(handle, output, room, given, &error)
        }
    }

    private func output(
        of room: Int, _ call: (UnsafeMutablePointer<Float>?, Int, UnsafeMutablePointer<Int>) -> dv_status
    ) throws -> [Float] {
        let channels = Int(info.output_channels)
        var (output, given) = ([Float](repeating: .nan, count: room * max(1, channels)), 0)
        let status = unsafe output.withUnsafeMutableBufferPointer { unsafe call($0.baseAddress, room, &given) }
        guard status == DV_OK else { throw Refusal(status: status, message: text(error)) }
        return Array(output.prefix(given * channels))
    }
}
