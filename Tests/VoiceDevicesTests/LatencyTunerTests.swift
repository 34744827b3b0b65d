import Testing
import VoiceRealtime

@testable import VoiceDevices

@Suite("Latency tuner")
struct LatencyTunerTests {
    /// What happens to a tuner of periods of 240 frames, from 2 to 8 of them.
    enum Step: Sendable {
        /// A wake-up this many frames late.
        case wake(late: Int)
        case xrun(late: Int)
        /// So many seconds pass; the tuner is asked in each.
        case pass(Int64)
        /// The periods that there must be now.
        case expect(Int)
        /// The seconds of quiet that it must want now.
        case expectQuiet(Int64)
    }

    struct Story: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var steps: [Step]

        init(_ description: String, _ steps: [Step]) {
            testDescription = description
            self.steps = steps
        }
    }

    static let stories = [
        Story("it begins with the fewest and stays there", [.expect(2), .pass(10_000), .expect(2)]),
        Story("each xrun adds a period", [.xrun(late: 300), .expect(3), .xrun(late: 500), .expect(4)]),
        Story(
            "never beyond the most",
            (0..<12).map { _ in .xrun(late: 300) } + [.expect(8)]),
        Story(
            "a stall that the longest buffer could not have borne changes nothing",
            [.xrun(late: 7 * 240 + 1), .expect(2), .xrun(late: 7 * 240), .expect(3), .xrun(late: 48_000), .expect(3)]),
        Story("ten quiet seconds take it away again", [.xrun(late: 300), .pass(9), .expect(3), .pass(1), .expect(2)]),
        Story(
            "one period for each ten seconds",
            [.xrun(late: 300), .xrun(late: 300), .xrun(late: 300), .expect(5)]
                + [4, 3, 2, 2].flatMap { [.pass(10), .expect($0)] }),
        Story(
            "a wake-up that would have used up more than half of what the smaller buffer bears is not quiet",
            [.xrun(late: 300), .xrun(late: 300), .expect(4), .pass(5), .wake(late: 241), .pass(5), .expect(4)]
                + [.pass(10), .expect(3)]),
        Story(
            "one that uses up half of it is",
            [.xrun(late: 300), .xrun(late: 300), .expect(4), .pass(5), .wake(late: 240), .pass(5), .expect(3)]),
        Story(
            "two periods bear one that is late; half of it is the limit",
            [.xrun(late: 300), .wake(late: 121), .pass(10), .expect(3), .wake(late: 120), .pass(10), .expect(2)]),
        Story(
            "a period that was missed soon after it was taken away doubles the wait, up to 640 s",
            [.xrun(late: 300), .expectQuiet(10)]
                + [10, 20, 40, 80, 160, 320, 640, 640].flatMap { wait -> [Step] in
                    [
                        .expectQuiet(wait), .pass(wait - 1), .expect(3), .pass(1), .expect(2), .pass(wait - 1),
                        .xrun(late: 300), .expect(3),
                    ]
                }),
        Story(
            "one that was missed much later does not",
            [.xrun(late: 300), .pass(10), .expect(2), .pass(11), .xrun(late: 300), .expect(3), .expectQuiet(10)]),
        Story(
            "the longest quiet at the fewest forgives",
            [.xrun(late: 300), .pass(10), .xrun(late: 300), .expectQuiet(20), .pass(20), .expect(2)]
                + [.pass(639), .expectQuiet(20), .pass(1), .expectQuiet(10)]),
        Story(
            "an xrun starts the wait anew",
            [.xrun(late: 300), .pass(9), .xrun(late: 300), .expect(4), .pass(9), .expect(4), .pass(1), .expect(3)]),
    ]

    @Test("Stories", arguments: stories)
    func story(_ story: Story) {
        var now = MonotonicTime(nanoseconds: 5_000)
        var tuner = LatencyTuner(periodFrames: 240, limits: 2...8, now: now)
        for (index, step) in story.steps.enumerated() {
            switch step {
            case .wake(let late): tuner.noteWake(late: late)
            case .xrun(let late):
                let before = tuner.periods
                let changed = tuner.noteXrun(late: late, at: now)
                #expect(changed == (tuner.periods != before), "step \(index)")
            case .pass(let seconds):
                for _ in 0..<seconds {
                    now.nanoseconds += 1_000_000_000
                    let before = tuner.periods
                    let changed = tuner.settle(at: now)
                    #expect(changed == (tuner.periods != before), "step \(index)")
                }
            case .expect(let periods):
                #expect(tuner.periods == periods, "step \(index)")
                #expect(tuner.targetFrames == 240 * periods)
            case .expectQuiet(let seconds): #expect(tuner.quietNanoseconds == seconds * 1_000_000_000, "step \(index)")
            }
        }
    }

    @Test("Where there is no room to grow, nothing ever changes")
    func fixed() {
        var now = MonotonicTime(nanoseconds: 0)
        var tuner = LatencyTuner(periodFrames: 480, limits: 3...3, now: now)
        for _ in 0..<100 {
            now.nanoseconds += 30_000_000_000
            let hasGrown = tuner.noteXrun(late: 1, at: now)
            let hasShrunk = tuner.settle(at: now)
            #expect(!hasGrown && !hasShrunk)
        }
        #expect(tuner.periods == 3)
    }
}
