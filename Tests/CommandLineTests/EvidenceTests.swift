import Testing
import VoiceSimulation

@testable import duplex

@Suite("What the echo evidence says of signals whose echo is known")
struct EchoEvidenceTests {
    private static let rate = 16_000
    private static let far = SyntheticSpeech.samples(frames: 16_000 * 6, seed: 5)

    /// The echo: half as loud and `delay` frames later.
    private static func echo(delay: Int) -> [Float] {
        [Float](repeating: 0, count: delay) + far.dropLast(delay).map { $0 / 2 }
    }

    @Test(
        "the energy that is gone, whatever the delay and the lag",
        arguments: [(0, 0), (800, 0), (1_600, 160), (0, 320)])
    func enhancement(delay: Int, lag: Int) throws {
        let microphone = Self.echo(delay: delay)
        let output = [Float](repeating: 0, count: lag) + microphone.dropLast(lag).map { $0 / 100 }
        let evidence = EchoEvidence(
            microphone: microphone, reference: Self.far, output: output, rate: Self.rate, delay: delay, lag: lag)
        #expect(abs(try #require(evidence.enhancementDecibels) - 40) < 0.5)
        #expect(evidence.convergenceSeconds == 0)
    }

    @Test("when it began to go")
    func convergence() throws {
        let microphone = Self.echo(delay: 0)
        let begins = 3 * Self.rate
        let output = microphone.indices.map { $0 < begins ? microphone[$0] : microphone[$0] / 100 }
        let evidence = EchoEvidence(
            microphone: microphone, reference: Self.far, output: output, rate: Self.rate, delay: 0, lag: 0)
        #expect(abs(try #require(evidence.convergenceSeconds) - 3) < 0.6)
    }

    @Test("nothing, where the far end was silent or nothing was removed")
    func nothing() {
        let microphone = Self.echo(delay: 0)
        let silence = [Float](repeating: 0, count: microphone.count)
        let silent = EchoEvidence(
            microphone: microphone, reference: silence, output: microphone, rate: Self.rate, delay: 0, lag: 0)
        #expect(silent.enhancementDecibels == nil)
        #expect(silent.convergenceSeconds == nil)
        let untouched = EchoEvidence(
            microphone: microphone, reference: Self.far, output: microphone, rate: Self.rate, delay: 0, lag: 0)
        #expect(untouched.enhancementDecibels == 0)
        #expect(untouched.convergenceSeconds == nil)
        let short = EchoEvidence(microphone: [0], reference: [0], output: [0], rate: Self.rate, delay: 9_600, lag: 0)
        #expect(short.enhancementDecibels == nil)
    }
}

@Suite("Tables")
struct TableTests {
    @Test("columns begin below each other")
    func columns() {
        var table = Table()
        table.add("a", "bc", "d")
        table.add("long", "", "e")
        table.add("only")
        #expect(table.lines == ["a      bc   d", "long        e", "only"])
    }

    @Test("an empty one has no lines")
    func empty() { #expect(Table().lines.isEmpty) }
}
