import Testing

@testable import VoiceTurns

struct BargeInJudgeTests {
    /// Feeds blocks of 10 ms, and returns the stages and the times, ms, at which they came.
    private func stages(
        _ judge: inout BargeInJudge, _ blocks: [Float], trusted: Bool = true, near: Bool = false, from begin: Int = 0
    ) -> [(BargeInStage, Int)] {
        var changes: [(BargeInStage, Int)] = []
        for (index, probability) in blocks.enumerated() {
            let end = begin + (index + 1) * 10
            let evidence = SpeechEvidence(
                probability: probability, isTrusted: trusted, isNear: near, end: ms(end), duration: ms(10))
            if let change = judge.take(evidence) { changes.append((change.stage, end)) }
        }
        return changes
    }

    @Test(
        "Given steady speech, when it goes on, then the answer is ducked, held and given up at the stages' times, and the speech's beginning is told"
    )
    func steady() throws {
        var judge = try #require(BargeInJudge(.staged()))
        let changes = stages(&judge, [0, 0] + Array(repeating: 1, count: 100))
        #expect(changes.map(\.0) == [.suspected, .held, .confirmed])
        #expect(changes.map(\.1) == [40, 120, 720])
        var other = try #require(BargeInJudge(.staged()))
        for block in 1...3 {
            let change = other.take(
                SpeechEvidence(probability: block > 1 ? 1 : 0, isTrusted: true, end: ms(block * 10), duration: ms(10)))
            if let change { #expect(change.speechStart == ms(10)) }
        }
    }

    @Test(
        "Given a sound that is surely of the near end, when it is hardly speech yet, then one block ducks; without a canceller to trust, or where one suspicion ends the answer, none does"
    )
    func prompt() throws {
        let onset = [Float(0.1), 0.45] + Array(repeating: 1, count: 98)
        var judge = try #require(BargeInJudge(.staged()))
        let changes = stages(&judge, onset, near: true)
        // Held and given up as without it
        #expect(changes.map(\.1) == [20, 120, 720])
        var far = try #require(BargeInJudge(.staged()))
        #expect(stages(&far, onset).map(\.1) == [40, 120, 720])
        var doubtful = try #require(BargeInJudge(.staged()))
        #expect(stages(&doubtful, onset, trusted: false, near: true).first?.1 == 100)
        var immediate = try #require(BargeInJudge(.immediate()))
        #expect(stages(&immediate, onset, near: true).map(\.1) == [40])
        // One block is no more than a suspicion, and its beginning is that of the speech that follows
        var click = try #require(BargeInJudge(.staged()))
        let clicks = stages(&click, [0.5] + Array(repeating: 0, count: 30), near: true)
        #expect(clicks.map(\.0) == [.suspected, .none] && clicks.map(\.1) == [10, 160])
        let first = click.take(
            SpeechEvidence(probability: 0.5, isTrusted: true, isNear: true, end: ms(410), duration: ms(10)))
        #expect(first?.speechStart == ms(400))
        #expect(stages(&click, Array(repeating: 1, count: 20), from: 410).map(\.1) == [510])
    }

    @Test(
        "Given a blip, a cough or an mm-hm, when silence follows, then the suspicion is retracted and nothing is given up",
        arguments: [
            (80, [BargeInStage.suspected, .none]), (300, [.suspected, .held, .none]),
            (550, [.suspected, .held, .none]),
        ])
    func retracted(milliseconds: Int, expected: [BargeInStage]) throws {
        var judge = try #require(BargeInJudge(.staged()))
        let sound = Array(repeating: Float(0.9), count: milliseconds / 10)
        #expect(stages(&judge, sound + Array(repeating: 0, count: 100)).map(\.0) == expected)
        // It begins anew with the next one.
        #expect(stages(&judge, sound + Array(repeating: 0, count: 100)).map(\.0) == expected)
    }

    @Test("Given keystrokes of 30 ms four times a second, when they go on for a minute, then nothing is given up")
    func keystrokes() throws {
        var judge = try #require(BargeInJudge(.staged()))
        let stroke: [Float] = [0.9, 0.9, 0.9] + Array(repeating: 0, count: 22)
        let changes = stages(&judge, Array(repeating: stroke, count: 240).flatMap { $0 })
        #expect(!changes.contains { $0.0 == .confirmed })
        #expect(changes.last?.0 == BargeInStage.none)
    }

    @Test(
        "Given speech with pauses of 100 ms between its words, when it goes on, then the answer is given up within 1.5 s"
    )
    func words() throws {
        var judge = try #require(BargeInJudge(.staged()))
        let word = Array(repeating: Float(0.8), count: 25) + Array(repeating: Float(0.1), count: 10)
        let changes = stages(&judge, Array(repeating: word, count: 10).flatMap { $0 })
        #expect(changes.map(\.0) == [.suspected, .held, .confirmed])
        #expect(try #require(changes.last).1 <= 1_500)
    }

    @Test("Given a canceller that is not to be trusted, when speech is heard, then it must last so many times as long")
    func doubt() throws {
        var judge = try #require(BargeInJudge(.staged()))
        let changes = stages(&judge, Array(repeating: 1, count: 400), trusted: false)
        #expect(changes.map(\.1) == [80, 400, 2_800])
    }

    @Test("Given a suspicion, when a recogniser has heard words, then it is confirmed at once; without one nothing is")
    func recognised() throws {
        var judge = try #require(BargeInJudge(.staged()))
        #expect(judge.confirm(now: .zero) == nil)
        _ = stages(&judge, [1, 1, 1])
        #expect(judge.confirm(now: ms(50))?.stage == .confirmed)
        #expect(stages(&judge, Array(repeating: 1, count: 100)).isEmpty)
        judge.restart()
        #expect(judge.stage == .none)
    }

    @Test(
        "Given the policies off and immediate, when speech is heard, then nothing happens, and the answer is given up at the first suspicion"
    )
    func policies() throws {
        #expect(BargeInJudge(.off) == nil)
        var judge = try #require(BargeInJudge(.immediate()))
        let changes = stages(&judge, Array(repeating: 1, count: 100))
        #expect(changes.map(\.0) == [.confirmed])
        #expect(changes.map(\.1) == [20])
    }
}
