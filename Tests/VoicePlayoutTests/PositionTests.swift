import TestCases
import Testing
import VoicePlayout
import VoiceWire

struct PositionTests {
    @Test(
        "Every frame pulled has a position, which never goes back, and where packets play it is the truth",
        arguments: cases(1...12))
    func positions(seed: UInt64) {
        // Given a network with every fault, that is stretched for and concealed
        var random = SeededNumbers(seed: seed)
        let network = Network.random(&random)
        let blocks = [[120], [441], [480], [960], [7, 480]].randomElement(using: &random) ?? [480]
        let trace = Trace(seconds: 8, redundant: seed % 2 == 0, network: network, seed: seed)
        let context = "seed \(seed): \(network), blocks of \(blocks)"
        var listening = Listening(context: context)
        var (last, frame, checked) = (Int64.min, Int64(0), 0)
        // When each block's frames are looked up as it is pulled
        while listening.sound.count < 8 * 48_000 {
            listening.play(trace, until: Double(listening.sound.count + 1) / 48) {
                blocks.randomElement(using: &random) ?? 480
            }
            let end = Int64(listening.sound.count)
            while frame < end {
                guard let segment = listening.buffer.segment(ofPulledFrame: frame),
                    let position = listening.buffer.position(ofPulledFrame: frame)
                else {
                    #expect(last == .min, "frame \(frame) has no position, \(context)")
                    frame = end
                    continue
                }
                #expect(position >= last, "frame \(frame), \(context)")
                last = position
                // Then the tone's phase there is that of the position, where it is steady
                if segment.origin == .packet, segment.advances, frame - segment.firstFrame >= 400,
                    segment.firstFrame + Int64(segment.frames) - frame >= 400
                {
                    let error = abs(listening.sound[Int(frame)] - ToneDecoder.sample(position))
                    #expect(error < 0.02, "frame \(frame), \(context)")
                    checked += 1
                }
                frame += 97
            }
            #expect(listening.buffer.segment(ofPulledFrame: end) == nil)
        }
        #expect(checked > 200, "\(checked) frames, \(context)")
    }

    @Test("Decisions are told in order, and their frames are those of the statistics")
    func decisions() {
        // Given a network that asks for every decision
        var network = Network(jitterMilliseconds: 10, lossRatio: 0.1, stallEveryMilliseconds: 2000)
        network.step = (3000, 6000, 80)
        let trace = Trace(seconds: 10, redundant: true, network: network, seed: 3)
        var listening = Listening()
        var frames: [PlayoutDecision.Kind: Int] = [:]
        var last: Int64 = 0
        for step in 1...100 {
            listening.play(trace, until: Double(step) * 100, keepsSound: false)
            if step == 80 { listening.buffer.flush(generation: 1) }
            while let decision = listening.buffer.takeDecision() {
                #expect(decision.pulledFrame >= last)
                last = decision.pulledFrame
                frames[decision.kind, default: 0] += decision.frames
            }
        }
        // Then every kind of them was told
        let statistics = listening.buffer.statistics
        #expect(Set(frames.keys) == Set(PlayoutDecision.Kind.allCases), "\(frames)")
        #expect(frames[.lengthen] == Int(statistics.insertedSamplesForDeceleration))
        #expect(frames[.pause] == Int(statistics.pauseSamples))
        #expect(frames[.skip, default: 0] + frames[.flush, default: 0] == Int(statistics.skippedSamples))
    }
}
