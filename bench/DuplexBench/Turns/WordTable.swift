import VoiceSimulation

/// How soon answers were quiet by the word that was said into them: each seed's is another, the same in every room.
struct WordTable {
    private struct Word {
        var overNoise: Double?
        var clear: [Double] = []
        var noisy: [Double] = []
    }

    private var words: [UInt64: Word] = [:]

    static let description = """
        The interruptions above by their word, one a seed. "Over the noise": from its first sound until 10 ms of it are louder than the noise of the noisy \
        scenes, \(Int(EchoPaths.noise)) dBFS: nobody can hear it there before. "Quiet": medians without noise, at 0 dB too, and in that noise, without a room.
        """

    mutating func add(_ story: Story, seed: UInt64, isNoisy: Bool) {
        var word = words[seed] ?? Word()
        // A weaker talker is over the noise later: how it is in the loudest scene counts.
        if let after = story.overNoiseAfter { word.overNoise = min(word.overNoise ?? .infinity, 1_000 * after) }
        if let quiet = story.quietAt {
            let after = 1_000 * (quiet - story.spoken)
            if isNoisy { word.noisy.append(after) } else { word.clear.append(after) }
        }
        words[seed] = word
    }

    mutating func add(_ other: WordTable) {
        for (seed, word) in other.words {
            var sum = words[seed] ?? Word()
            if let after = word.overNoise { sum.overNoise = min(sum.overNoise ?? .infinity, after) }
            sum.clear += word.clear
            sum.noisy += word.noisy
            words[seed] = sum
        }
    }

    var table: MarkdownTable {
        var table = MarkdownTable("seed", "over the noise after ms", "quiet ms", "of", "in noise: quiet ms", "of")
        for (seed, word) in words.sorted(by: { $0.key < $1.key }) {
            table.add(
                String(seed), word.overNoise.map { $0.fixed(0) } ?? "", TurnsTally.median(word.clear).fixed(0),
                String(word.clear.count), TurnsTally.median(word.noisy).fixed(0), String(word.noisy.count))
        }
        return table
    }
}
