import GraphEngine
import Synchronization
import Testing
import VoicePartner

@Suite("Nodes of one's own that are mistaken")
struct OwnNodeTests {
    @Test("Given numbers that are no times, in words or in a block, then an action that they call is carried out")
    func numbersThatAreNoTimes() async throws {
        for number in [Double.nan, .infinity, -.infinity, 1e300, -1e300, .greatestFiniteMagnitude] {
            var library = NodeLibrary.builtIn
            let type = NodeType(
                "App.Teller", summary: "Tells.", inputs: [NodePort("input")],
                events: [NodeEvent("words", "In words."), NodeEvent("block", values: ["start"], "Of a block.")])
            try library.register(type) { setup in Teller(setup, number) }
            let recogniser = KeepingRecogniser()
            let json = graph(
                [node("mine", "App.Teller"), node("words", "Recogniser")].joined(separator: ","),
                [
                    link("inputNode", "mine"), link("inputNode", "words"), link("mine.words", "words.transcribe"),
                    link("mine.block", "words.transcribe"),
                ].joined(separator: ","))
            let engine = try GraphEngine.createEngine(
                json, library: library, environment: GraphEnvironment(recogniser: recogniser))
            try await engine.push([[Float](repeating: 0.1, count: 1_600)])
            await engine.finish()
            // Then no frame is in two pieces, or in none
            #expect(recogniser.pieces.reduce(0) { $0 + $1.count } == 1_600, "\(number)")
        }
    }

    @Test("Given an event that its type does not have, then it is counted, and the others are told")
    func unknownEvent() async throws {
        var library = NodeLibrary.builtIn
        let type = NodeType(
            "App.Stray", summary: "Tells.", inputs: [NodePort("input")], events: [NodeEvent("known", "Known.")])
        try library.register(type) { _ in Stray() }
        let engine = try GraphEngine.createEngine(
            graph(node("mine", "App.Stray"), link("inputNode", "mine")), library: library)
        let collected = Collected()
        try engine.addEventListener("*", "*") { collected($0) }
        try await engine.push([[Float](repeating: 0, count: 160)])
        #expect(collected.named("known", of: "mine").count == 1)
        #expect(collected.named("overloaded", of: "engine").map(\.values) == [["droppedEvents": .integer(2)]])
    }

    @Test("Given ports that there are not, then they have no channels")
    func unknownPorts() async throws {
        let found = Found()
        var library = NodeLibrary.builtIn
        let type = NodeType("App.Asker", summary: "Asks.", inputs: [NodePort("input")], outputs: [NodePort("output")])
        try library.register(type) { _ in Asker(found) }
        let engine = try GraphEngine.createEngine(
            graph(
                node("mine", "App.Asker"),
                [link("inputNode", "mine"), link("mine", "outputNode")].joined(separator: ","), speaker: true),
            library: library)
        try await engine.push([[Float](repeating: 0, count: 160)])
        #expect(found.channels.withLock { $0 } == [0, 1, 0, 0, 1, 0])
    }

    @Test("Given a field by which an output has no channels, or too many, then that is a fault", arguments: [-4, 0, 9])
    func channels(_ count: Int) throws {
        var library = NodeLibrary.builtIn
        let type = NodeType(
            "App.Wide", summary: "Wide.", fields: [NodeField("width", .integer(-100...100), "How wide.")],
            inputs: [NodePort("input")], outputs: [NodePort("output", .field("width")), NodePort("other")])
        try library.register(type) { _ in Stray() }
        do throws(GraphError) {
            _ = try GraphEngine.createEngine(
                graph(node("mine", "App.Wide", "{\"width\": \(count)}"), link("inputNode", "mine")), library: library)
            Issue.record("taken")
        } catch {
            #expect(error.faults.map(\.node) == ["mine"] && error.faults.map(\.field) == ["output"], "\(error)")
        }
    }

    private final class Teller: DrainingNode {
        private let setup: NodeSetup
        private let number: Double

        init(_ setup: NodeSetup, _ number: Double) { (self.setup, self.number) = (setup, number) }

        func process(_ input: borrowing GraphInput, into output: inout GraphOutput) {
            output.tell(1, start: number > 0 ? .max : .min)
        }

        nonisolated(nonsending) func drain(waits: Bool) async {
            setup.tell("words", ["start": .number(number), "end": .number(number)], [])
        }
    }

    private final class Stray: GraphNode {
        func process(_ input: borrowing GraphInput, into output: inout GraphOutput) {
            output.tell(-1)
            output.tell(0)
            output.tell(1)
        }
    }

    private final class Found: Sendable {
        let channels = Mutex<[Int]>([])
    }

    private final class Asker: GraphNode {
        private let found: Found

        init(_ found: Found) { self.found = found }

        func process(_ input: borrowing GraphInput, into output: inout GraphOutput) {
            let channels = [
                input.channels(-1), input.channels(0), input.channels(1),
                output.channels(-1), output.channels(0), output.channels(1),
            ]
            found.channels.withLock { $0 = channels }
        }
    }
}
