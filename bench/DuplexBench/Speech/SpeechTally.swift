import VoiceProcessing

/// What a detector made of scenes: probabilities in, the same decisions for everybody.
struct SpeechTally {
    private static let block = Duration.milliseconds(10)
    /// An end this long before the end of an utterance is early; blocks.
    private static let early = 10

    private(set) var right = 0
    private(set) var wrong = 0
    private(set) var missed = 0
    private(set) var utterances = 0
    private(set) var earlyEnds = 0
    private(set) var falseStarts = 0
    private(set) var silentMinutes = 0.0
    /// From the first sound of an utterance to the telling, ms, and by how much the time told was off.
    private(set) var told: [Double] = []
    private(set) var onsetErrors: [Double] = []

    /// F1 by blocks.
    var score: Double { 2 * Double(right) / Double(2 * right + wrong + missed) }
    var falsePerMinute: Double { silentMinutes == 0 ? .nan : Double(falseStarts) / silentMinutes }
    var earlyPerUtterance: Double { Double(earlyEnds) / Double(max(1, utterances)) }

    mutating func add(_ probabilities: [Float], of scene: SpeechScene, rules: SpeechDetector.Configuration) {
        var detector = SpeechDetector(rules)
        var decided = [Bool](repeating: false, count: scene.truth.count)
        var starts: [(at: Int, told: Int)] = []
        var ends: [Int] = []
        var open: Int?
        let levels = scene.levels
        for block in 0..<min(decided.count, probabilities.count) {
            let end = Self.block * (block + 1)
            let event = detector.take(
                probability: probabilities[block], level: levels[block], duration: Self.block, until: end)
            switch event {
            case .speechStarted(let at):
                open = Int(at / Self.block)
                starts.append((Int(at / Self.block), block + 1))
            case .speechEnded(let at):
                for index in (open ?? 0)..<Int(at / Self.block) { decided[index] = true }
                (ends, open) = (ends + [Int(at / Self.block)], nil)
            case nil: break
            }
        }
        if let open { for index in open..<decided.count { decided[index] = true } }
        count(decided, scene)
        let said = SpeechScene.runs(of: true, in: scene.truth)
        utterances += said.count
        for run in said {
            earlyEnds += ends.count { $0 >= run.lowerBound && $0 < run.upperBound - Self.early }
            guard let start = starts.first(where: { $0.told > run.lowerBound && $0.at < run.upperBound }) else {
                continue
            }
            told.append(Double(start.told - run.lowerBound) * 10)
            onsetErrors.append(Double(abs(start.at - run.lowerBound)) * 10)
        }
        guard said.isEmpty else { return }
        falseStarts += starts.count
        silentMinutes += Double(scene.truth.count) / 6_000
    }

    private mutating func count(_ decided: [Bool], _ scene: SpeechScene) {
        for (isTold, isTrue) in zip(decided, scene.truth) {
            right += isTold && isTrue ? 1 : 0
            wrong += isTold && !isTrue ? 1 : 0
            missed += !isTold && isTrue ? 1 : 0
        }
    }
}
