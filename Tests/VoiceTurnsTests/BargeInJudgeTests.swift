import Testing

@testable import VoiceTurns

struct BargeInJudgeTests {
    /// Levels of the near end: those of one voice, as syllables swing, or as steady as a crowd.
    private func near(_ block: Int, swing: Float = 7) -> SpeechEvidence.SoundLevels {
        let level = block % 20 < 10 ? -30 + swing : -30 - swing
        return SpeechEvidence.SoundLevels(left: level, overNoise: level + 65, cancelled: 2)
    }

    /// Levels of a block of which the canceller has taken so much away, dB.
    private func cancelled(_ decibels: Float, block: Int = 0) -> SpeechEvidence.SoundLevels {
        var levels = near(block)
        levels.cancelled = decibels
        return levels
    }

    /// Feeds blocks of 10 ms, and returns the stages and the times, ms, at which they came.
    private func stages(
        _ judge: inout BargeInJudge, _ blocks: [Float], trusted: Bool = true, clean: Bool = false,
        confidence: Float = 1, levels: (Int) -> SpeechEvidence.SoundLevels? = { _ in nil }, from begin: Int = 0
    ) -> [(BargeInStage, Int)] {
        var changes: [(BargeInStage, Int)] = []
        for (index, probability) in blocks.enumerated() {
            let end = begin + (index + 1) * 10
            let evidence = SpeechEvidence(
                probability: probability, isTrusted: trusted, isClean: clean, confidence: confidence,
                levels: levels(index), end: ms(end), duration: ms(10))
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
        var starts: [Duration] = []
        for block in 1...3 {
            let change = other.take(
                SpeechEvidence(probability: block > 1 ? 1 : 0, isTrusted: true, end: ms(block * 10), duration: ms(10)))
            if let change { starts.append(change.speechStart) }
        }
        #expect(starts == [ms(10)])
    }

    @Test(
        "Given a sound that is surely of the near end, when it is hardly speech yet, then one block ducks; without a canceller to trust, or where one suspicion ends the answer, none does"
    )
    func prompt() throws {
        let onset = [Float(0.1), 0.45] + Array(repeating: 1, count: 98)
        func voice(_ block: Int) -> SpeechEvidence.SoundLevels? { near(block) }
        var judge = try #require(BargeInJudge(.staged()))
        // Held and given up as without it
        #expect(stages(&judge, onset, levels: voice).map(\.1) == [20, 120, 720])
        var far = try #require(BargeInJudge(.staged()))
        #expect(stages(&far, onset).map(\.1) == [40, 120, 720])
        var doubtful = try #require(BargeInJudge(.staged()))
        #expect(stages(&doubtful, onset, trusted: false, levels: voice).first?.1 == 100)
        var immediate = try #require(BargeInJudge(.immediate()))
        #expect(stages(&immediate, onset, levels: voice).map(\.1) == [40])
        // One block is no more than a suspicion, and its beginning is that of the speech that follows
        var click = try #require(BargeInJudge(.staged()))
        let clicks = stages(&click, [0.5] + Array(repeating: 0, count: 30), levels: { $0 == 0 ? near(0) : nil })
        #expect(clicks.map(\.0) == [.suspected, .none] && clicks.map(\.1) == [10, 160])
        let first = click.take(
            SpeechEvidence(probability: 0.5, isTrusted: true, levels: near(0), end: ms(410), duration: ms(10)))
        #expect(first?.speechStart == ms(400))
        #expect(stages(&click, Array(repeating: 1, count: 20), from: 410).map(\.1) == [510])
    }

    @Test(
        "Given a word that begins with a hiss, when the hiss has lasted 20 ms, then the answer is ducked, and its speech began with the hiss"
    )
    func hiss() throws {
        let word = Array(repeating: Float(0.05), count: 11) + Array(repeating: 1, count: 80)
        var judge = try #require(BargeInJudge(.staged()))
        let changes = stages(&judge, [0, 0] + word, levels: { $0 < 2 ? nil : near($0) })
        #expect(changes.map(\.0) == [.suspected, .held, .confirmed])
        // The hiss counts as speech of 60 ms, once the vowel has come
        #expect(changes.map(\.1) == [40, 170, 770])
        var other = try #require(BargeInJudge(.staged()))
        var start: Duration?
        for (index, probability) in ([0, 0] + word).enumerated() {
            let evidence = SpeechEvidence(
                probability: probability, isTrusted: true, levels: index < 2 ? nil : near(index),
                end: ms(10 * index + 10), duration: ms(10))
            if let change = other.take(evidence), change.stage == .confirmed { start = change.speechStart }
        }
        #expect(start == ms(20))
        var stages = BargeInStages()
        stages.alertAfter = nil
        var deaf = try #require(BargeInJudge(.staged(stages)))
        #expect(self.stages(&deaf, [0, 0] + word, levels: { $0 < 2 ? nil : near($0) }).first?.1 == 140)
        stages.alertAfter = .zero
        #expect(stages.fault?.name == "alertAfter")
    }

    @Test(
        "Given sounds that no speech follows, when they come again and again, then they duck ever more rarely; once somebody has spoken, the next one does at once"
    )
    func habit() throws {
        var judge = try #require(BargeInJudge(.staged()))
        // 30 ms of a key, every 250 ms, for a minute
        let keys = Array(repeating: Float(0), count: 6_000)
        func key(_ block: Int) -> SpeechEvidence.SoundLevels? { block % 25 < 3 ? near(block) : nil }
        let ducks = stages(&judge, keys, levels: key).filter { $0.0 == .suspected }.map(\.1)
        #expect(ducks.first == 20 && (4...6).contains(ducks.count))
        #expect(zip(ducks, ducks.dropFirst()).allSatisfy { $1 - $0 >= 2_000 })
        // Nor do keys that follow each other faster than a duck is taken back keep it up
        var fast = try #require(BargeInJudge(.staged()))
        let changes = stages(&fast, Array(repeating: 0, count: 200), levels: { $0 % 12 < 2 ? near($0) : nil })
        #expect(changes.map(\.0) == [.suspected, .none] && changes.map(\.1) == [20, 290])
        let word = Array(repeating: Float(1), count: 15) + Array(repeating: 0, count: 60)
        _ = stages(&judge, word)
        _ = stages(&judge, Array(repeating: 0, count: 1_600))
        _ = stages(&judge, word)
        let again = stages(&judge, Array(repeating: 0, count: 300), levels: key).filter { $0.0 == .suspected }
        #expect(again.map(\.1) == [20, 2_270])
        judge.restart()
        #expect(stages(&judge, [0, 0], levels: key).map(\.0) == [.suspected])
    }

    @Test(
        "Given what sounds like speech, when the canceller has taken most of it away, then it is the answer's own echo; a talker who is as loud as the echo is heard as ever, one 5 dB weaker later"
    )
    func ownEcho() throws {
        let speech = Array(repeating: Float(0.95), count: 200)
        var echo = try #require(BargeInJudge(.staged()))
        #expect(stages(&echo, speech, levels: { cancelled(20, block: $0) }).isEmpty)
        // Nor does it add up where a tenth of it is less of an echo
        #expect(
            stages(&echo, speech, levels: { cancelled($0 % 10 == 0 ? 12 : 17, block: $0) }).allSatisfy {
                $0.0 != .confirmed
            })
        for (decibels, held) in [(Float(3), 100), (6, 100), (12, 150)] {
            var judge = try #require(BargeInJudge(.staged()))
            let changes = stages(&judge, speech, levels: { cancelled(decibels, block: $0) })
            #expect(changes.first { $0.0 == .held }?.1 == held, "\(decibels) dB")
            #expect(changes.last?.0 == .confirmed)
        }
    }

    @Test("Given a network that still hears speech when there is only noise, then the answer goes on")
    func noise() throws {
        var judge = try #require(BargeInJudge(.staged()))
        let changes = stages(
            &judge, Array(repeating: 0.9, count: 300),
            levels: { $0 < 20 ? near($0) : SpeechEvidence.SoundLevels(left: -45, overNoise: 1, cancelled: 0) })
        #expect(changes.map(\.0) == [.suspected, .held, .none])
        #expect(changes.last?.1 == 650)
    }

    @Test(
        "Given many voices at once, whose level hardly swings, when they go on, then the answer is held and not given up for four times as long"
    )
    func crowd() throws {
        var judge = try #require(BargeInJudge(.staged()))
        let changes = stages(&judge, Array(repeating: 0.95, count: 400), levels: { near($0, swing: 2.5) })
        #expect(changes.map(\.0) == [.suspected, .held, .confirmed] && changes.last?.1 == 2_800)
        var voice = try #require(BargeInJudge(.staged()))
        #expect(stages(&voice, Array(repeating: 0.95, count: 400), levels: { near($0, swing: 5) }).last?.1 == 700)
    }

    @Test(
        "Given a crowd that begins with one of its voices, when the others come in and it grows by 20 dB, then it is a crowd"
    )
    func growing() throws {
        var judge = try #require(BargeInJudge(.staged()))
        let changes = stages(
            &judge, Array(repeating: 0.95, count: 200),
            levels: { block in
                var levels = near(block, swing: 2)
                levels.left += min(0, Float(block) / 2.5 - 20)
                return levels
            })
        #expect(changes.map(\.0) == [.suspected, .held])
    }

    @Test(
        "Given a blip, a cough or an mm-hm, when silence follows, then the suspicion is retracted and nothing is given up",
        arguments: [
            (80, [BargeInStage.suspected, .none]), (300, [.suspected, .held, .none]),
            (450, [.suspected, .held, .none]),
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
        // To be silent, three times that again: bursts of echo last half a second and more
        #expect(changes.map(\.1) == [80, 1_200, 2_800])
    }

    @Test(
        "Given bursts of echo before the canceller has learned, when it has, then they do not hold the answer, and speech does as ever"
    )
    func learned() throws {
        var judge = try #require(BargeInJudge(.staged()))
        let burst = stages(&judge, Array(repeating: 1, count: 100), trusted: false)
        #expect(burst.map(\.0) == [.suspected])
        // 250 ms of what is left of it; a second later it is certain
        let tail = stages(&judge, Array(repeating: 1, count: 25) + Array(repeating: 0, count: 85), from: 1_000)
        #expect(tail.map(\.0) == [.none])
        #expect(stages(&judge, Array(repeating: 1, count: 20), from: 2_100).map(\.1) == [2_120, 2_200])
        // Who means it is heard in that second too
        var spoken = try #require(BargeInJudge(.staged()))
        _ = stages(&spoken, [0], trusted: false)
        #expect(stages(&spoken, Array(repeating: 1, count: 80), from: 10).map(\.1) == [30, 310, 710])
        // What was held in doubt stays held
        var held = try #require(BargeInJudge(.staged()))
        _ = stages(&held, Array(repeating: 1, count: 120), trusted: false)
        #expect(held.stage == .held)
        #expect(stages(&held, Array(repeating: 1, count: 50), from: 1_200).map(\.0) == [.confirmed])
    }

    @Test(
        "Given a hiss that is weaker than the echo, when it stands out of all that was left of late, then it ducks after 40 ms, and holds nothing; what lasts 30, is left as ever, or lies far below the echo, does not"
    )
    func overResidual() throws {
        func hiss(_ over: Float, cancelled: Float) -> SpeechEvidence.SoundLevels {
            SpeechEvidence.SoundLevels(left: -48, overNoise: 17, cancelled: cancelled, overResidual: over)
        }
        let blocks = Array(repeating: Float(0.02), count: 60)
        for (levels, length, expected) in [
            (hiss(20, cancelled: 13), 12, [BargeInStage.suspected, .none]), (hiss(20, cancelled: 13), 3, []),
            (hiss(5, cancelled: 13), 12, []), (hiss(20, cancelled: 19), 12, []),
        ] {
            var judge = try #require(BargeInJudge(.staged()))
            let changes = stages(&judge, blocks, levels: { $0 < length ? levels : nil })
            #expect(changes.map(\.0) == expected, "\(levels)")
            #expect(changes.first.map { $0.1 == 40 } ?? true)
        }
        var doubtful = try #require(BargeInJudge(.staged()))
        #expect(stages(&doubtful, blocks, trusted: false, levels: { _ in hiss(20, cancelled: 13) }).isEmpty)
    }

    @Test(
        "Given a hiss that is softer than the noise, when it stands out of all that was left in its octave, then it ducks after 20 ms and holds nothing; what stands out less or is mostly echo does not, nor where the canceller is not to be trusted"
    )
    func octaveOverResidual() throws {
        func hiss(_ over: Float, cancelled: Float) -> SpeechEvidence.SoundLevels {
            SpeechEvidence.SoundLevels(
                left: -48, overNoise: -3, cancelled: cancelled, overResidual: 2, octaveOverResidual: over)
        }
        let blocks = Array(repeating: Float(0.02), count: 60)
        for (levels, length, expected) in [
            (hiss(12, cancelled: 11), 12, [BargeInStage.suspected, .none]), (hiss(12, cancelled: 11), 1, []),
            (hiss(7, cancelled: 11), 12, []), (hiss(12, cancelled: 15), 12, []),
        ] {
            var judge = try #require(BargeInJudge(.staged()))
            let changes = stages(&judge, blocks, levels: { $0 < length ? levels : nil })
            #expect(changes.map(\.0) == expected, "\(levels)")
            #expect(changes.first.map { $0.1 == 20 } ?? true)
        }
        var doubtful = try #require(BargeInJudge(.staged()))
        #expect(stages(&doubtful, blocks, trusted: false, levels: { _ in hiss(12, cancelled: 11) }).isEmpty)
    }

    @Test(
        "Given a noisy room, where a canceller has no opinion of itself, when levels were clean for 2.5 s and somebody speaks, then that holds the answer and ends it as with one that is trusted; sooner, or in a quiet room, as late as in doubt"
    )
    func cleanInNoise() throws {
        func voice(_ block: Int, noise: Float) -> SpeechEvidence.SoundLevels {
            var levels = near(block)
            levels.overNoise = levels.left - noise
            return levels
        }
        func held(after rest: Int, noise: Float) throws -> [Int] {
            var judge = try #require(BargeInJudge(.staged()))
            _ = stages(
                &judge, Array(repeating: 0, count: rest), trusted: false, clean: true,
                levels: { _ in SpeechEvidence.SoundLevels(left: noise - 6, overNoise: -6, cancelled: 20) })
            return stages(
                &judge, Array(repeating: 1, count: 100), trusted: false, clean: true,
                levels: { voice($0, noise: noise) }
            ).map(\.1)
        }
        let trusted = try held(after: 500, noise: -45)
        #expect(trusted.count == 3 && trusted[1] <= 120 && trusted[2] <= 720, "\(trusted)")
        #expect(try held(after: 100, noise: -45).count == 1)
        #expect(try held(after: 500, noise: -60).count == 1)
    }

    @Test(
        "Given a hiss far below the echo, when it stands out of all that the filter left in its octave, then it ducks after 20 ms, after 10 where it does so plainly, and holds nothing; what stands out less, or is no near end by the network, does not, nor where the canceller is not to be trusted"
    )
    func octaveOverError() throws {
        func hiss(_ over: Float, near: Float = 0.75) -> SpeechEvidence.SoundLevels {
            SpeechEvidence.SoundLevels(
                left: -52, overNoise: -5, cancelled: 23, octaveOverError: over, nearShare: near)
        }
        let blocks = Array(repeating: Float(0.02), count: 60)
        let cases: [(SpeechEvidence.SoundLevels, length: Int, ducks: Int?)] = [
            (hiss(4), 12, 20), (hiss(4), 1, nil), (hiss(9), 1, 10), (hiss(2), 12, nil), (hiss(9, near: 0.5), 12, nil),
        ]
        for (levels, length, ducks) in cases {
            var judge = try #require(BargeInJudge(.staged()))
            let changes = stages(&judge, blocks, levels: { $0 < length ? levels : nil })
            #expect(changes.map(\.0) == (ducks == nil ? [] : [.suspected, .none]), "\(levels)")
            #expect(changes.first?.1 == ducks, "\(levels)")
        }
        var doubtful = try #require(BargeInJudge(.staged()))
        #expect(stages(&doubtful, blocks, trusted: false, levels: { _ in hiss(9) }).isEmpty)
    }

    @Test(
        "Given a vowel's harmonic that the filter misses, when it lasts while the far end is heard alone, then the answer is ducked, and neither held nor given up, nor as it fades; a talker who is heard later holds it at once"
    )
    func farEndAlone() throws {
        func harmonic(_ alone: Float, _ block: Int) -> SpeechEvidence.SoundLevels {
            var levels = near(block)
            levels.farEndAlone = alone
            return levels
        }
        let vowel = Array(repeating: Float(0.9), count: 100) + Array(repeating: 0, count: 40)
        var judge = try #require(BargeInJudge(.staged()))
        let alone = stages(&judge, vowel, levels: { $0 < 100 ? harmonic(0.9, $0) : cancelled(25) })
        #expect(alone.map(\.0) == [.suspected, .none])
        // A talker's voice takes 60 to 90 ms to be heard in the coherence
        var spoken = try #require(BargeInJudge(.staged()))
        let voice = stages(&spoken, vowel, levels: { harmonic($0 < 15 ? 0.9 : 0.1, $0) })
        #expect(voice.map(\.0) == [.suspected, .held, .confirmed])
        #expect(voice.map(\.1) == [10, 160, 700])
    }

    @Test(
        "Given a canceller that is not to be trusted and leaves nothing of the far end, when somebody speaks, then that ducks after 20 ms, and holds as late as ever"
    )
    func clean() throws {
        let word = Array(repeating: Float(0.05), count: 4) + Array(repeating: 1, count: 300)
        func held(_ clean: Bool) throws -> [(BargeInStage, Int)] {
            var judge = try #require(BargeInJudge(.staged()))
            return stages(&judge, word, trusted: false, clean: clean, levels: { near($0) })
        }
        let (doubtful, clean) = (try held(false), try held(true))
        #expect(clean.first?.0 == .suspected && clean.first?.1 == 20)
        #expect(doubtful.first?.0 == .suspected && doubtful.first?.1 == 120)
        #expect(clean.dropFirst().map(\.0) == [.held, .confirmed])
        #expect(clean.dropFirst().map(\.1) == doubtful.dropFirst().map(\.1))
        // Nor does one block do with the network's word
        var prompt = try #require(BargeInJudge(.staged()))
        #expect(stages(&prompt, [0.9], trusted: false, clean: true, levels: { near($0) }).isEmpty)
        // Nor do words that a recogniser hears meanwhile end the answer, which may be what it hears
        for (trusted, stage) in [(false, nil), (true, BargeInStage.confirmed)] {
            var noise = try #require(BargeInJudge(.staged()))
            let ducked = stages(&noise, [0, 0], trusted: trusted, clean: true, levels: { near($0) })
            #expect(ducked.map(\.0) == [.suspected])
            #expect(noise.confirm(now: ms(30))?.stage == stage)
        }
    }

    @Test(
        "Given a canceller that is trusted and not sure of itself, when it lets a burst of echo pass, then that holds nothing for 3 s; one that is sure holds after 1 s, and longer speech holds then too"
    )
    func unsure() throws {
        let burst = Array(repeating: Float(1), count: 18) + Array(repeating: 0, count: 82)
        for (confidence, held) in [(Float(0.5), [3_100, 4_100]), (1, [1_100, 2_100, 3_100, 4_100])] {
            var judge = try #require(BargeInJudge(.staged()))
            _ = stages(&judge, [0], trusted: false)
            // Trusted from 10 ms on
            let changes = (0..<5).flatMap { stages(&judge, burst, confidence: confidence, from: 1_000 * $0) }
            #expect(changes.filter { $0.0 == .held }.map(\.1) == held, "\(confidence): \(changes)")
        }
        // 300 ms in the first second, then 200
        for (begin, held) in [(10, 310), (1_500, 1_700)] {
            var judge = try #require(BargeInJudge(.staged()))
            _ = stages(&judge, [0], trusted: false)
            _ = stages(&judge, Array(repeating: 0, count: begin / 10 - 1), confidence: 0.5, from: 10)
            let speech = stages(&judge, Array(repeating: 1, count: 40), confidence: 0.5, from: begin)
            #expect(speech.filter { $0.0 == .held }.map(\.1) == [held])
        }
        // What it was sure of before somebody speaks counts, not that it is unsure of who does
        var judge = try #require(BargeInJudge(.staged()))
        _ = stages(&judge, [0], trusted: false)
        _ = stages(&judge, Array(repeating: 0, count: 150))
        let speech = stages(&judge, Array(repeating: 0.5, count: 2) + Array(repeating: 1, count: 20), from: 1_500)
        #expect(speech.map(\.1) == [1_540, 1_620])
        var other = try #require(BargeInJudge(.staged()))
        _ = stages(&other, [0], trusted: false)
        _ = stages(&other, Array(repeating: 0, count: 150))
        _ = stages(&other, [1], from: 1_500)
        let unsure = stages(&other, Array(repeating: 1, count: 20), confidence: 0.3, from: 1_510)
        #expect(unsure.map(\.1) == [1_520, 1_600])
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
