import Testing
import VoiceRealtime
import VoiceSimulation

@testable import VoiceEngine

@Suite("Frames of a sink")
struct SoundFramesTests {
    @Test("come as they are there, each with the time of its first sample, at each rate", arguments: SoundRate.allCases)
    func frames(rate: SoundRate) async throws {
        let rig = try FarEndRig()
        let agent = try rig.core.openFarEnd(FarEndConfiguration(nearEndRate: rate))
        let speech = SyntheticSpeech.samples(frames: 48_000, seed: 4, voice: .low, levelDecibels: -20)
        let start = rig.now
        let frames = agent.nearEnd(.milliseconds20)
        let task = Task {
            var taken: [SoundFrame] = []
            for await frame in frames {
                taken.append(frame)
                if taken.count == 40 { break }
            }
            return taken
        }
        // When a second of speech comes while a task waits for it
        for _ in 0..<100 {
            rig.run(blocks: 1) { speech[$0] }
            for _ in 0..<20 { await Task.yield() }
        }
        rig.core.stopDevice()
        let taken = await task.value
        try #require(taken.count == 40)
        // Then the frames follow each other in time, and are the speech
        for (index, frame) in taken.enumerated() {
            let wanted = start.sinceEpoch + .milliseconds(20) * index
            #expect(abs((frame.time - wanted) / .microseconds(1)) < 1)
            #expect(frame.isAfterGap == (index == 0))
        }
        let samples = taken.flatMap(\.samples)
        var error: Float = 0
        var power: Float = 0
        for (index, sample) in samples.enumerated() {
            let wanted = speech[index * rate.ratio]
            error += (sample - wanted) * (sample - wanted)
            power += wanted * wanted
        }
        // What the lower rates cannot have is a small part of speech.
        #expect(error < 0.1 * power)
    }
}
