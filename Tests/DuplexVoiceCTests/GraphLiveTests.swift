import CDuplexVoice
import Glibc
import Synchronization
import Testing

/// Whether a node's function runs, and has run.
private let isInside = Atomic<Bool>(false)
private let hasLeft = Atomic<Bool>(false)

extension LibraryTests {
    @Suite("Graphs on engines that run")
    struct GraphLiveTests {
        @Test("Given a far end that a graph has, then its sound is the graph's until the graph is destroyed")
        func farEnds() throws {
            let engine = try CEngine()
            #expect(engine.start() == DV_OK)
            var far: dv_far_end = 0
            #expect(unsafe dv_far_end_open(engine.handle, nil, &far, nil) == DV_OK)
            let description = GraphTests.description(
                "{\"id\": \"far\", \"type\": \"FarEnd\", \"config\": {\"name\": \"agent\"}}",
                [("inputNode", "far"), ("far", "outputNode")], speaker: true)
            var taken = 0
            do {
                let graph = try CGraph(description, farEnd: far)
                #expect(throws: Refusal.self) { try CGraph(description, farEnd: far) }
                #expect(unsafe dv_far_end_offer(far, [0], 1, 16_000, 1, 0, &taken) == DV_BUSY)
                #expect(dv_far_end_close(far) == DV_BUSY)
                #expect(try graph.push([Float](repeating: 0.1, count: 320)).count == 320)
            }
            #expect(unsafe dv_far_end_offer(far, [0], 1, 16_000, 2, 0, &taken) == DV_OK)
            #expect(dv_far_end_close(far) == DV_OK)
            #expect(throws: Refusal.self) { try CGraph(description, farEnd: far) }
        }

        @Test(
            "Given a process that may open nothing more, then a graph is destroyed behind its functions, and an engine stops"
        )
        func withoutDescriptors() throws {
            let engine = try CEngine()
            #expect(engine.start() == DV_OK)
            var (graph, error) = (0 as dv_graph, dv_error())
            let description = GraphTests.description(
                "{\"id\": \"slow\", \"type\": \"App.Slow\"}", [("inputNode", "slow"), ("slow", "outputNode")],
                speaker: true)
            let made = unsafe "App.Slow".withCString { name in
                var type = unsafe dv_graph_node_type(
                    name: name,
                    process: { _, _, _, _, _ in
                        isInside.store(true, ordering: .sequentiallyConsistent)
                        usleep(300_000)
                        hasLeft.store(true, ordering: .sequentiallyConsistent)
                    }, context: nil)
                return unsafe withUnsafePointer(to: &type) { type in
                    var config = unsafe dv_graph_config()
                    unsafe config.size = UInt32(MemoryLayout<dv_graph_config>.size)
                    unsafe (config.node_types, config.node_type_count) = (type, 1)
                    return unsafe dv_graph_create(description, &config, &graph, &error)
                }
            }
            try #require(made == DV_OK)
            try #require(unsafe dv_graph_start(graph, engine.handle, &error) == DV_OK)
            let silence = [Float](repeating: 0, count: 480)
            // For a minute at most.
            for _ in 0..<60_000 where !isInside.load(ordering: .sequentiallyConsistent) {
                #expect(unsafe dv_send_capture(engine.handle, silence, 480, 0, nil) == DV_OK)
                usleep(1_000)
            }
            var limit = rlimit()
            try #require(unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
            try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none) == 0)
            let destroyed = dv_graph_destroy(graph)
            let wasLeft = hasLeft.load(ordering: .sequentiallyConsistent)
            let stopped = engine.stop()
            var another: dv_engine = 7
            let refused = unsafe dv_engine_create(nil, &another, &error)
            try #require(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            #expect(destroyed == DV_OK && wasLeft && stopped == DV_OK)
            // Whoever begins something is told
            #expect(refused == DV_EXHAUSTED && another == 0)
            #expect(text(of: error.code) == "engine.resourcesExhausted")
        }

        @Test("Given an engine's sound, then the graph hears the microphone and is heard, until it is stopped")
        func onAnEngine() throws {
            let engine = try CEngine()
            let description = GraphTests.description(
                "{\"id\": \"turned\", \"type\": \"App.Inverter\"}, {\"id\": \"meter\", \"type\": \"LevelMeter\"}",
                [("inputNode", "turned"), ("inputNode", "meter"), ("turned", "outputNode")], speaker: true)
            let graph = try CGraph(description, own: true)
            let told = Told()
            try graph.listen("meter", "level", told)
            #expect(dv_graph_start(graph.handle, engine.handle, nil) == DV_WRONG_STATE)
            #expect(engine.start() == DV_OK)
            #expect(dv_graph_start(graph.handle, engine.handle, nil) == DV_OK)
            #expect(dv_graph_start(graph.handle, engine.handle, nil) == DV_WRONG_STATE)
            let tone = (0..<480).map { $0 % 48 < 24 ? Float(0.3) : -0.3 }
            var loudest: Float = 0
            // At the pace of a sound card, for a minute at most.
            for _ in 0..<6_000 where loudest < 0.1 || told.events.isEmpty {
                var (taken, played) = (0, [Float](repeating: 0, count: 480))
                #expect(unsafe dv_send_capture(engine.handle, tone, 480, 0, &taken) == DV_OK)
                #expect(unsafe dv_pull_playback(engine.handle, &played, 480, 0, nil) == DV_OK)
                loudest = max(loudest, played.map(abs).max() ?? 0)
                usleep(10_000)
            }
            #expect(loudest >= 0.1)
            #expect((told.events.last?.numbers["rmsDb"] ?? -99) > -40)
            #expect(dv_graph_stop(graph.handle, nil) == DV_OK)
            #expect(graph.pushStatus([0]) == DV_WRONG_STATE)
        }
    }
}
