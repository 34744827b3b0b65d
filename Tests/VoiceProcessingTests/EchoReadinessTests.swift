import Glibc
import Testing

@testable import VoiceProcessing

@Suite("Whether the canceller can be trusted")
struct EchoReadinessTests {
    /// Reports of `blocks` in which these levels were measured, dBFS.
    private static func reports(
        _ blocks: Int, came: Float, left: Float, reference: Float, canceller: Float? = nil
    ) -> [ProcessingReport] {
        var report = ProcessingReport(inputLevel: came, outputLevel: left)
        report.cancelledLevel = left
        report.referenceLevel = reference
        report.echoReadiness = canceller
        return Array(repeating: report, count: blocks)
    }

    private static func judged(_ reports: [ProcessingReport]...) -> EchoReadiness {
        var judge = EchoReadinessJudge()
        for report in reports.joined() { _ = judge.take(report) }
        return judge.readiness
    }

    private static let still = reports(100, came: -62, left: -62, reference: -127)

    @Test("nothing is known while the far end is silent")
    func silence() {
        #expect(Self.judged(Self.still).state == .unknown)
        #expect(Self.judged([]).state == .unknown)
        // A tenth of a second of it says as little.
        #expect(Self.judged(Self.reports(10, came: -30, left: -60, reference: -20)).state == .unknown)
    }

    @Test("what is gone for a second is trusted, what is there is not", arguments: [Float(-62), -51, -40, -32])
    func cancelled(left: Float) throws {
        // An echo of -35 dBFS in a room of -62
        let readiness = Self.judged(Self.still, Self.reports(120, came: -35, left: left, reference: -25))
        #expect(readiness.isReady == (left <= -50))
        #expect(readiness.evidence.farEndHeard == .milliseconds(1_200))
        #expect(abs(try #require(readiness.evidence.enhancement) - (-35 - left)) < 0.1)
    }

    @Test("where there is no echo there is nothing to wait for but the far end")
    func headset() {
        let readiness = Self.judged(Self.still, Self.reports(60, came: -61, left: -61, reference: -20))
        #expect(readiness.isReady)
        #expect(readiness.evidence.enhancement == nil)
    }

    @Test("a talker does not shake it, an echo for a second does")
    func doubts() {
        let clean = Self.reports(150, came: -35, left: -65, reference: -25)
        let talker = Self.reports(40, came: -26, left: -26, reference: -25)
        let pause = Self.reports(20, came: -35, left: -65, reference: -25)
        #expect(Self.judged(Self.still, clean, talker, pause, talker, pause, talker, pause, talker).isReady)
        let leak = Self.reports(250, came: -35, left: -38, reference: -25)
        #expect(Self.judged(Self.still, clean, leak).state == .learning)
    }

    @Test("a canceller that says that it has not learned is believed")
    func opinion() {
        let doubtful = Self.reports(200, came: -35, left: -65, reference: -25, canceller: 0.1)
        let sure = Self.reports(200, came: -35, left: -65, reference: -25, canceller: 0.9)
        #expect(Self.judged(Self.still, doubtful).state == .learning)
        #expect(Self.judged(Self.still, sure).isReady)
        #expect(Self.judged(Self.still, sure, doubtful).state == .learning)
    }

    @Test("where levels show nothing of the far end that is known, whatever the canceller says of itself")
    func clean() {
        func isClean(_ reports: [ProcessingReport]...) -> Bool {
            var judge = EchoReadinessJudge()
            for report in reports.joined() { _ = judge.take(report) }
            return judge.isClean
        }
        let noisy = Self.reports(100, came: -41, left: -41, reference: -127)
        func echo(_ blocks: Int, left: Float) -> [ProcessingReport] {
            Self.reports(blocks, came: -31, left: left, reference: -25, canceller: 0)
        }
        #expect(Self.judged(noisy, echo(400, left: -42)).state == .learning)
        #expect(isClean(noisy, echo(400, left: -42)))
        #expect(!isClean(noisy, echo(190, left: -42)))
        #expect(!isClean(noisy, echo(400, left: -34)))
        #expect(!isClean(noisy, echo(400, left: -42), echo(200, left: -34)))
    }

    @Test(
        "an echo that noise hides is no reason for doubt, whatever the canceller says, but not before 2 s of the far end"
    )
    func hidden() {
        let noisy = Self.reports(100, came: -43, left: -43, reference: -127)
        func hidden(_ blocks: Int) -> [ProcessingReport] {
            Self.reports(blocks, came: -40, left: -42, reference: -25, canceller: 0)
        }
        #expect(!Self.judged(noisy, hidden(190)).isReady)
        #expect(Self.judged(noisy, hidden(210)).isReady)
        // One that stands out of the noise is doubted as ever,
        let heard = Self.reports(400, came: -30, left: -40, reference: -25, canceller: 0)
        #expect(!Self.judged(noisy, heard).isReady)
        // and a talker of 0.7 s is not taken for one.
        let talker = Self.reports(70, came: -20, left: -20, reference: -25, canceller: 0)
        #expect(Self.judged(noisy, hidden(400), talker).isReady)
        #expect(!Self.judged(noisy, hidden(400), heard + heard).isReady)
    }

    @Test("every change is told once")
    func told() {
        var judge = EchoReadinessJudge()
        let call =
            Self.still + Self.reports(200, came: -35, left: -35, reference: -25)
            + Self.reports(200, came: -35, left: -65, reference: -25)
        var states: [EchoReadiness.State] = []
        for report in call where judge.take(report) { states.append(judge.readiness.state) }
        #expect(states == [.learning, .ready])
        judge.restart()
        #expect(judge.readiness == EchoReadiness())
    }
}

@Suite("What may be left of an echo")
struct ResidualEchoLikelihoodTests {
    private static func run(_ parts: (blocks: Int, left: Float, reference: Float)...) -> [Float] {
        var residual = ResidualEchoLikelihood()
        return parts.flatMap { part in
            (0..<part.blocks).map { _ in residual.take(left: part.left, reference: part.reference, noise: -70) }
        }
    }

    @Test("an echo before the canceller has converged is one, a talker beside the far end is not")
    func first() {
        #expect(Self.run((20, -33, -25)).allSatisfy { $0 > 0.8 })
        #expect(Self.run((20, -15, -25)).allSatisfy { $0 < 0.1 })
        #expect(Self.run((20, -15, -127)).allSatisfy { $0 == 0 })
    }

    @Test("the better the canceller, the quieter a talker that is heard beside the far end")
    func learned() {
        let likelihoods = Self.run((300, -65, -25), (50, -45, -25))
        #expect(likelihoods[299] > 0.5)
        #expect(likelihoods[300...].allSatisfy { $0 < 0.1 })
        #expect(Self.run((50, -45, -25)).allSatisfy { $0 > 0.9 })
    }

    @Test("an echo that has come back for good is learned again within ten seconds")
    func returned() {
        let likelihoods = Self.run((300, -65, -25), (1_000, -45, -25))
        #expect(likelihoods[310] < 0.1)
        #expect(likelihoods[1_299] > 0.9)
    }

    @Test("it outlasts the far end by a room's reverberation")
    func tail() {
        let likelihoods = Self.run((50, -33, -25), (30, -53, -127), (30, -53, -127))
        #expect(likelihoods[60] > 0.8)
        #expect(likelihoods[109] == 0)
    }
}
