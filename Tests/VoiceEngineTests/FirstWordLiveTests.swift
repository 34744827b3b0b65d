import Synchronization
import Testing
import VoiceDevices
import VoiceEngine
import VoiceSimulation

@Suite("The first word in a room")
struct FirstWordLiveTests {
    /// Somebody who begins to speak when told, and over and over, before a microphone that hears nothing else. Where
    /// the card stands still, they wait.
    private struct Talker: AcousticAir {
        let speech: [Float]
        let begins: Begin
        private var spoken = 0

        init(speech: [Float], begins: Begin) { (self.speech, self.begins) = (speech, begins) }

        mutating func process(speaker: Span<Float>, into microphone: inout MutableSpan<Float>) {
            let speaks = begins.flag.load(ordering: .acquiring)
            for index in microphone.indices {
                microphone[index] = speaks ? speech[spoken % speech.count] : 0
                if speaks { spoken += 1 }
            }
        }

        mutating func pass(frames: Int, period: Int) {}
    }

    private final class Begin: Sendable {
        let flag = Atomic(false)
    }

    /// Somebody who only listens: what the loudspeaker sounds.
    private struct Listener: AcousticAir {
        let heard: Heard

        mutating func process(speaker: Span<Float>, into microphone: inout MutableSpan<Float>) {
            heard.samples.withLock { samples in for index in speaker.indices { samples.append(speaker[index]) } }
            for index in microphone.indices { microphone[index] = 0 }
        }
    }

    private final class Heard: Sendable {
        let samples = Mutex<[Float]>([])
    }

    private func engine(_ air: sending some AcousticAir) throws -> VoiceEngine {
        VoiceEngine(
            modestConfiguration(
                device: try SimulatedDevice(
                    air: air, configuration: SimulatedDeviceConfiguration(pacing: .realTime(priority: 0)))))
    }

    @Test(
        "Given a talker 40 ms from the room, when a word is spoken from the call of join on, then it is heard from its first 10 ms on",
        .timeLimit(.minutes(3)))
    func firstWord() async throws {
        let room = try LoopbackRoom()
        defer { room.close() }
        let way = LongWay(to: room.port, delay: .milliseconds(40))
        defer { way.stop() }
        let speech = SyntheticSpeech.samples(frames: 4 * 48_000, seed: 7, voice: .high, levelDecibels: -26)
        let onset = try #require(speech.firstIndex { abs($0) > 1e-2 })
        let word = Array(speech[onset...])
        // A call in real time on a busy machine may stall: of four of which nothing tells that they did, one must be
        // heard whole, and of many of the others.
        var (shortfall, calmCalls) = (0, 0)
        let deadline = ContinuousClock.now + .seconds(90)
        while calmCalls < 4, ContinuousClock.now < deadline {
            let (begin, heard) = (Begin(), Heard())
            let listener = try engine(Listener(heard: heard))
            let talker = try engine(Talker(speech: word, begins: begin))
            try await listener.start()
            try await talker.start()
            try await listener.join(room.endpoint("listener"))
            let asked = ContinuousClock.now
            begin.flag.store(true, ordering: .releasing)
            try await talker.join(room.endpoint("talker", port: way.port))
            // What is older than a second is not kept.
            let isQuick = ContinuousClock.now - asked < .milliseconds(800)
            #expect(try await eventually { heard.samples.withLock { $0.count { abs($0) > 1e-3 } } > 48_000 })
            let (there, here) = (try await talker.statistics(), try await listener.statistics())
            let losses =
                there.device.capture.xruns + there.uplink.captureOverflowFrames + there.uplink.packetsDropped
                + here.device.playback.xruns + here.downlink.packetsDropped
            if isQuick, losses == 0 { calmCalls += 1 }
            await talker.stop()
            await listener.stop()
            // What was lost of the beginning is missing in what is heard.
            let samples = heard.samples.withLock { $0 }
            let first = try #require(samples.firstIndex { abs($0) > 1e-3 })
            let found = SignalAlignment(
                of: samples.span.extracting(first..<min(samples.count, first + 9_600)),
                after: word.span.extracting(0..<48_000), longestDelayFrames: 48_000)
            let alignment = try #require(found)
            shortfall = max(0, -alignment.delayFrames)
            if alignment.correlation > 0.8, shortfall < 480 { return }
        }
        Issue.record("the first \(shortfall / 48) ms of the word are missing")
    }
}
