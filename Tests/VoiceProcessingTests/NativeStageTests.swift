import CAllocationCounter
import Glibc
import TestCases
import Testing
import VoiceRealtime

@testable import VoiceProcessing

/// What a canceller owes both talkers, on speech-like signals in sparse rooms.
@Suite("Native echo canceller")
struct NativeStageTests {
    private static let echoOnly = ProcessingSettings(echo: .soft)

    private func run(_ mic: [Float], _ far: [Float], rate: Int) throws -> ProcessorRun {
        ProcessorRun(
            try ProcessingBackend.native.makeProcessor(sampleRate: rate, settings: Self.echoOnly), capture: mic,
            reference: far)
    }

    /// Level of the difference between the output and the near end, behind the near end's own level, dB.
    private func distortion(_ run: ProcessorRun, near: [Float], delay: Int, from start: Int) -> Float {
        let range = start..<near.count - delay
        let difference = range.map { run.output[$0 + delay] - near[$0] }
        return rms(near[range]) - rms(difference)
    }

    @Test(
        "takes away an echo, wherever it is",
        arguments: cases(zip([16_000, 16_000, 32_000, 48_000], [0.0, 0.5, 0.13, 0.13])))
    func farEndAlone(rate: Int, delay: Double) throws {
        let far = speech(seconds: 6, rate: rate, seed: 401)
        let hiss = noise(seconds: 6, rate: rate, seed: 402, level: -75)
        let mic = sum(echo(of: far, rate: rate, delay: Int(delay * Double(rate))), hiss)
        let result = try run(mic, far, rate: rate)
        let tail = (4 * rate)...
        #expect(rms(mic[tail]) - rms(result.output[tail]) > 30)
        let report = try #require(result.reports.last)
        #expect(try abs(#require(report.echoDelay) - Int(delay * Double(rate))) <= rate / 1000)
        #expect(try #require(report.echoPresence) > 0.99)
        #expect(try #require(report.echoReadiness) > 0.9)
        #expect(try #require(report.echoReturnLossEnhancement) > 25)
        #expect(try abs(#require(report.echoReturnLoss) - 6) < 3)
        #expect(report.echoDriftPPM == nil)
    }

    @Test("the room does not go where a far end talks that hisses in its pauses")
    func room() throws {
        // Given a room, and a reference that was recorded: its hiss never ends, so an echo is always possible
        for seed in cases(420...423 as ClosedRange<UInt64>) {
            let rate = 16_000
            let far = sum(
                speech(seconds: 10, rate: rate, seed: seed),
                noise(seconds: 10, rate: rate, seed: seed + 10, level: -60))
            let hiss = noise(seconds: 10, rate: rate, seed: seed + 20, level: -50)
            let mic = sum(echo(of: far, rate: rate, delay: rate / 20), hiss)
            let result = try run(mic, far, rate: rate)
            // Then in each tenth of a second of the second half something of the room is left: it goes down by 10 dB with
            // the echo, is thought to be a little softer than it is, and is not even
            let softest = stride(from: 5 * rate, to: 10 * rate, by: rate / 10).map {
                rms(result.output[$0..<$0 + rate / 10]) - rms(hiss)
            }.min()
            #expect(try #require(softest) > -17, "seed \(seed): \(softest ?? 0) dB")
        }
    }

    @Test("leaves a talker whole while both talk", arguments: cases([16_000, 48_000]))
    func doubleTalk(rate: Int) throws {
        // Given two seconds of the far end alone, then both, as loud as each other
        let far = speech(seconds: 8, rate: rate, seed: 411)
        let hiss = noise(seconds: 8, rate: rate, seed: 412, level: -75)
        var near = speech(seconds: 8, rate: rate, seed: 413, level: -32)
        for index in 0..<2 * rate { near[index] = 0 }
        let mic = sum(sum(echo(of: far, rate: rate, delay: rate / 20), near), hiss)
        // When it is processed
        let result = try run(mic, far, rate: rate)
        // Then what is not the talker is far below them
        let delay = try #require(result.reports.last).processingDelay
        #expect(distortion(result, near: near, delay: delay, from: 3 * rate) > 12)
    }

    @Test("a talker alone comes out as they went in, later", arguments: cases([16_000, 32_000, 48_000]))
    func nearEndAlone(rate: Int) throws {
        let near = speech(seconds: 2, rate: rate, seed: 421)
        let silence = [Float](repeating: 0, count: near.count)
        let result = try run(near, silence, rate: rate)
        let delay = try #require(result.reports.last).processingDelay
        #expect(delay == (rate == 16_000 ? 64 : rate / 200))
        #expect(distortion(result, near: near, delay: delay, from: rate / 10) > 45)
        #expect(result.reports.allSatisfy { $0.echoReadiness == nil && $0.mayContainEcho == false })
    }

    @Test("a headset's wearer is left alone, once it is clear that there is no echo")
    func headset() throws {
        let rate = 16_000
        let far = speech(seconds: 6, rate: rate, seed: 431)
        let hiss = noise(seconds: 6, rate: rate, seed: 432, level: -70)
        let near = sum(speech(seconds: 6, rate: rate, seed: 433), hiss)
        let result = try run(near, far, rate: rate)
        #expect(distortion(result, near: near, delay: 64, from: rate) > 40)
        let report = try #require(result.reports.last)
        #expect(try #require(report.echoPresence) < 0.01)
        #expect(report.echoReadiness == 1)
        #expect(report.echoDelay == nil)
    }

    @Test("a jump of the delay is followed within 0.3 s", arguments: cases([(0.04, 0.12), (0.12, 0.04), (0.04, 0.3)]))
    func jump(from: Double, to: Double) throws {
        let rate = 16_000
        let far = speech(seconds: 10, rate: rate, seed: 441)
        let early = echo(of: far, rate: rate, delay: Int(from * Double(rate)))
        let late = echo(of: far, rate: rate, delay: Int(to * Double(rate)))
        let hiss = noise(seconds: 10, rate: rate, seed: 442, level: -75)
        let mic = sum(Array(early[..<(6 * rate)]) + Array(late[(6 * rate)...]), hiss)
        let result = try run(mic, far, rate: rate)
        let after = (6 * rate + 3 * rate / 10)..<(7 * rate)
        #expect(rms(mic[after]) - rms(result.output[after]) > 20)
    }

    @Test("finds the drift of two clocks", arguments: cases([-250.0, 100]))
    func drift(ppm: Double) throws {
        let rate = 16_000
        let far = speech(seconds: 20, rate: rate, seed: 451)
        let straight = echo(of: far, rate: rate, delay: 640)
        let mic = sum(drifting(straight, ppm: ppm), noise(seconds: 20, rate: rate, seed: 452, level: -75))
        let result = try run(mic, far, rate: rate)
        #expect(try abs(Double(#require(result.reports.last?.echoDriftPPM)) + ppm) < 8)
        #expect(rms(mic[(15 * rate)...]) - rms(result.output[(15 * rate)...]) > 28)
    }

    @Test("switching the echo canceller under a running voice makes no click", arguments: cases([16_000, 48_000]))
    func liveSwitch(rate: Int) throws {
        let near = speech(seconds: 3, rate: rate, seed: 461)
        let silence = [Float](repeating: 0, count: near.count)
        let processor = try ProcessingBackend.native.makeProcessor(sampleRate: rate, settings: Self.echoOnly)
        let delay = processor.processingDelay
        let result = try ProcessorRun(processor, capture: near, reference: silence) { block in
            guard block % 40 == 20 else { return }
            let isOff = block % 80 == 20
            try processor.apply(isOff ? .bypass : Self.echoOnly)
            #expect(processor.processingDelay == (isOff ? 0 : delay))
        }
        #expect(delay > 0)
        #expect(roughness(result.output) < 1.3 * roughness(near))
    }

    @Test("switching the level of suppression while both talk makes no click", arguments: cases([16_000, 48_000]))
    func levelSwitch(rate: Int) throws {
        let far = speech(seconds: 6, rate: rate, seed: 462)
        let mic = sum(
            echo(of: far, rate: rate, delay: rate / 25), speech(seconds: 6, rate: rate, seed: 463, level: -30))
        let levels: [ProcessingSettings.EchoSuppression] = [.soft, .aggressive, .auto, .medium]
        let steady = try ProcessorRun(
            ProcessingBackend.native.makeProcessor(sampleRate: rate, settings: Self.echoOnly), capture: mic,
            reference: far)
        let processor = try ProcessingBackend.native.makeProcessor(sampleRate: rate, settings: Self.echoOnly)
        let switched = try ProcessorRun(processor, capture: mic, reference: far) { block in
            if block % 20 == 10 { try processor.apply(ProcessingSettings(echo: levels[block / 20 % 4])) }
        }
        #expect(switched.output[(3 * rate)...] != steady.output[(3 * rate)...])
        #expect(roughness(switched.output[(3 * rate)...]) < 1.3 * roughness(steady.output[(3 * rate)...]))
    }

    @Test(
        "takes nothing that was played before it was off for what is heard when it is on again",
        arguments: cases([16_000, 48_000]))
    func forgetsWhileOff(rate: Int) throws {
        // Given an echo that comes late and is known, and a far end that falls silent when the canceller is switched off
        var far = speech(seconds: 8, rate: rate, seed: 481)
        far.replaceSubrange(
            (5 * rate)..<(6 * rate), with: noise(seconds: 1, rate: rate, seed: 482, level: -26))
        for index in (6 * rate)..<far.count { far[index] = 0 }
        let hiss = noise(seconds: 8, rate: rate, seed: 483, level: -75)
        let mic = sum(echo(of: far, rate: rate, delay: rate / 5), hiss)
        let processor = try ProcessingBackend.native.makeProcessor(sampleRate: rate, settings: Self.echoOnly)
        // When it is off for 1.8 s
        let result = try ProcessorRun(processor, capture: mic, reference: far) { block in
            if block == 600 { try processor.apply(ProcessingSettings(echo: .off)) }
            if block == 780 { try processor.apply(Self.echoOnly) }
        }
        // Then it hears at once that nobody talks, and knows its path
        #expect(try #require(result.reports[599].referenceLevel) > -40)
        for report in result.reports[780..<799] {
            #expect(try #require(report.referenceLevel) < -90)
            #expect(report.mayContainEcho == false)
        }
        #expect(try abs(#require(result.reports[780].echoDelay) - rate / 5) <= rate / 1000)
    }

    @Test(
        "allocates nothing per block",
        .enabled(if: areAllocationsCounted, "needs optimised code and the allocation counter"),
        arguments: cases([16_000, 48_000]))
    func allocations(rate: Int) throws {
        // Given a far end, an echo that jumps, and drift enough to open the loop: every path is walked
        let far = speech(seconds: 8, rate: rate, seed: 471)
        let early = echo(of: far, rate: rate, delay: rate / 20)
        let late = echo(of: far, rate: rate, delay: rate / 8)
        let mic = Array(early[..<(5 * rate)]) + Array(late[(5 * rate)...])
        // When it is processed a second time, what the runtime makes once for all being there
        var ungained = ProcessingSettings.voiceChat
        ungained.gain.mode = .off
        let (_, output) = try Self.allocations(mic, far, rate: rate, settings: ungained)
        let (counted, _) = try Self.allocations(mic, far, rate: rate, settings: .voiceChat)
        #expect(counted == 0)
        #expect(rms(mic[(7 * rate)...]) - rms(output[(7 * rate)...]) > 20)
    }

    /// Allocations of this thread while a new processor runs over the signals, and its output.
    private static func allocations(
        _ mic: [Float], _ far: [Float], rate: Int, settings: ProcessingSettings
    ) throws -> (Int64, [Float]) {
        let processor = try ProcessingBackend.native.makeProcessor(sampleRate: rate, settings: settings)
        let block = rate / 100
        var output = mic
        output[0] = mic[0]  // its own storage, before anything is counted
        let before = RealtimeWatch.allocations ?? 0
        for start in stride(from: 0, to: mic.count, by: block) {
            // As the engine does when a route changes.
            if start == 100 * block { try processor.apply(settings) }
            var all = output.mutableSpan
            var capture = all._mutatingExtracting(start..<start + block)
            _ = processor.run(capture: &capture, reference: far.span.extracting(start..<start + block), delay: 0)
        }
        return ((RealtimeWatch.allocations ?? 0) - before, output)
    }
}
