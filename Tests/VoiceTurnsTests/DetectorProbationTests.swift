import Testing
import VoiceTurns

@Suite("Whether a detector's first beginnings are believed")
struct DetectorProbationTests {
    private static let block = Duration.milliseconds(10)

    /// Blocks of these probabilities in percent; in which of them the detector tells of a beginning. Returns the block
    /// after which that is believed, and whether it was doubtful.
    private static func believed(
        _ percents: [Int], told: Int, level: Float = -42, after silence: Int = 0
    ) -> (isDoubtful: Bool, block: Int?) {
        var probation = DetectorProbation()
        for _ in 0..<silence { _ = probation.take(probability: 0, level: -127, duration: block) }
        var isDoubtful = false
        for (number, percent) in percents.enumerated() {
            let isBelieved = probation.take(probability: Float(percent) / 100, level: level, duration: block)
            if isBelieved { return (isDoubtful, number + 1) }
            if number == told { isDoubtful = probation.speechStarted() }
        }
        return (isDoubtful, nil)
    }

    /// What the network said of the first noise of cars, percent: at -42, -35 and -25 dBFS, and at -30 behind digital
    /// silence.
    private static let noises = [
        [37, 69, 90, 93, 93, 91, 93, 92, 88, 89, 89, 81, 69, 56, 56, 57, 59, 38, 39, 35, 47, 40, 26, 24, 19, 13],
        [38, 71, 93, 95, 96, 95, 97, 96, 95, 95, 96, 93, 84, 76, 75, 76, 79, 59, 59, 55, 70, 58, 43, 39, 33, 27, 28],
        [40, 73, 94, 96, 97, 96, 98, 97, 96, 96, 97, 95, 88, 81, 80, 81, 85, 68, 66, 64, 77, 65, 52, 47, 42, 36, 35],
        [14, 19, 28, 34, 40, 71, 78, 85, 91, 79, 76, 75, 74, 63, 60, 71, 76, 66, 49, 48, 47, 45, 34, 29, 28, 18, 20],
    ]

    @Test("Given the first noise, when the detector takes it for speech, then it is never believed", arguments: noises)
    func noise(percents: [Int]) {
        let (isDoubtful, block) = Self.believed(percents, told: 7)
        #expect(isDoubtful && block == nil)
        #expect(Self.believed(percents, told: 10, after: 100).block == nil)
    }

    @Test("Given a person who speaks at once, when they have spoken for 0.2 s, then they are believed")
    func speech() {
        let (isDoubtful, block) = Self.believed([Int](repeating: 97, count: 40), told: 6)
        #expect(isDoubtful && block == 20)
        // With closures in it, which are no speech
        let syllables = (0..<60).map { $0 % 12 < 9 ? 95 : 20 }
        #expect(Self.believed(syllables, told: 7).block == 29)
    }

    @Test("Given half a second of any sound, when speech begins, then it is believed at once; silence is none")
    func later() {
        let quiet = [Int](repeating: 2, count: 50)
        #expect(!Self.believed(quiet + [Int](repeating: 97, count: 10), told: 57).isDoubtful)
        #expect(Self.believed([Int](repeating: 2, count: 30) + [97, 97, 97, 97, 97, 97], told: 35).isDoubtful)
        #expect(Self.believed([97, 97, 97, 97, 97, 97], told: 5, after: 500).isDoubtful)
    }

    @Test("Given speech that was doubted, when the detector tells of its end, then what follows is judged anew")
    func end() {
        var probation = DetectorProbation()
        for _ in 0..<10 { _ = probation.take(probability: 0.9, level: -40, duration: Self.block) }
        let isDoubtful = probation.speechStarted()
        #expect(isDoubtful)
        probation.speechEnded()
        for _ in 0..<100 {
            let isBelieved = probation.take(probability: 0.9, level: -40, duration: Self.block)
            #expect(!isBelieved)
        }
        let isDoubtfulAgain = probation.speechStarted()
        #expect(!isDoubtfulAgain)
    }
}
