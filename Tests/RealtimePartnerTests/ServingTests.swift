import Synchronization
import Testing
import VoiceDialog
import VoicePartner
import VoiceSimulation

@testable import RealtimePartner

@Suite("What a Realtime server of one's own does with sound")
struct ServingTests {
    @Test("speech is found where it is, at each rate that is offered", arguments: [8_000, 16_000, 24_000, 48_000])
    func finding(rate: Int) throws {
        let speech = SyntheticSpeech.samples(frames: 72_000, seed: 3, voice: .low, levelDecibels: -20)
        let all = [Float](repeating: 0, count: 48_000) + speech + [Float](repeating: 0, count: 72_000)
        // Without a filter: the voice has little above 4 kHz.
        let sound = stride(from: 0, to: all.count, by: 48_000 / rate).map { Int16(all[$0] * 32_767) }
        var finder = try SpeechFinder(ServedSettings.Detection(), rate: rate)
        var started: [Duration] = []
        var stopped: [(at: Duration, heard: Duration)] = []
        for start in stride(from: 0, to: sound.count, by: 1_000) {
            finder.take(Array(sound[start..<min(start + 1_000, sound.count)])) { event in
                switch event {
                case .started(let at): started.append(at)
                case .stopped(let at, let heard): stopped.append((at, heard))
                }
            }
        }
        let first = try #require(started.first)
        let last = try #require(stopped.last)
        #expect((.milliseconds(900) ... .milliseconds(1_600)).contains(first), "\(first)")
        #expect((.milliseconds(2_000) ... .milliseconds(2_900)).contains(last.at), "\(last)")
        #expect(last.heard >= last.at + .milliseconds(490) && started.count == stopped.count)
    }

    /// Says how many turns it has at a time, and gives a turn's length for its text.
    private final class OneAtATime: Recogniser {
        let present = Mutex(0)
        let largest = Mutex(0)

        func recognise(
            _ sound: AsyncStream<[Float]>, partial: @escaping @Sendable (String) async -> Void
        ) async throws(PartnerError) -> String {
            let now = present.withLock { count in
                count += 1
                return count
            }
            largest.withLock { $0 = max($0, now) }
            var samples = 0
            for await portion in sound { samples += portion.count }
            await Task.yield()
            present.withLock { $0 -= 1 }
            return "\(samples)"
        }
    }

    @Test("turns of many clients are recognised one after another, at the recogniser's rate")
    func desk() async throws {
        let recogniser = OneAtATime()
        let desk = RecogniserDesk(recogniser)
        let outcomes = await withTaskGroup(of: Result<String, PartnerError>.self) { group in
            for _ in 0..<20 {
                group.addTask { await desk.recognise([Int16](repeating: 0, count: 16_000), rate: 16_000) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes == Array(repeating: .success("16000"), count: 20))
        #expect(recogniser.largest.withLock { $0 } == 1)
        let converted = await desk.recognise([Int16](repeating: 0, count: 24_000), rate: 24_000)
        #expect((15_900...16_000).contains(Int((try? converted.get()) ?? "") ?? 0), "\(converted)")
    }
}
