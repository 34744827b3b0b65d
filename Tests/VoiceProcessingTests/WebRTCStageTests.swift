import Glibc
import TestCases
import Testing

@testable import VoiceProcessing

private let rates = [16_000, 32_000, 48_000]

@Suite("WebRTC's module")
struct WebRTCStageTests {
    @Test("removes an echo whose delay it is told", arguments: cases(rates))
    func echoRemoved(rate: Int) throws {
        // Given six seconds of far-end speech and its echo 20 ms later.
        let far = speech(seconds: 6, rate: rate, seed: 3)
        let delay = rate / 50
        let mic = sum(echo(of: far, rate: rate, delay: delay), noise(seconds: 6, rate: rate, seed: 4, level: -75))
        let processor = try ProcessingBackend.webRTC.makeProcessor(
            sampleRate: rate, settings: ProcessingSettings(echo: .medium))
        // When it is processed with that delay.
        let run = ProcessorRun(processor, capture: mic, reference: far, delay: delay)
        // Then the second half is at least 25 dB down, and the library reports what it achieved.
        let half = mic.count / 2
        #expect(rms(mic[half...]) - rms(run.output[half...]) > 25)
        let last = try #require(run.reports.last)
        #expect(try #require(last.echoReturnLossEnhancement) > 10)
        #expect(try abs(#require(last.echoReturnLoss) - 6) < 6)
        #expect(last.mayContainEcho != nil)
        #expect(processor.failedBlocks == 0)
    }

    /// What is left of an echo with each level from off on, dBFS.
    private static func leftByLevel() throws -> [Float] {
        let far = speech(seconds: 6, rate: 16_000, seed: 5)
        // A loudspeaker that overdrives leaves what no linear filter removes: the suppressor's part.
        let played = far.map { tanhf(6 * $0) / 6 }
        let mic = sum(echo(of: played, rate: 16_000, delay: 320), noise(seconds: 6, rate: 16_000, seed: 6, level: -90))
        return try [ProcessingSettings.EchoSuppression.off, .soft, .medium, .aggressive].map { level in
            let processor = try ProcessingBackend.webRTC.makeProcessor(
                sampleRate: 16_000, settings: ProcessingSettings(echo: level))
            return rms(ProcessorRun(processor, capture: mic, reference: far, delay: 320).output[48_000...])
        }
    }

    @Test("takes the echo away")
    func echoTaken() throws {
        let left = try Self.leftByLevel()
        #expect(left[0] - left[1] > 15)
    }

    @Test(
        "more suppression leaves less echo",
        .enabled(if: WebRTCStage.libraryTraits.hasLevels, "this library has one level"))
    func echoLevels() throws {
        let left = try Self.leftByLevel()
        #expect(left[1] - left[2] > 1, "\(left)")
        #expect(left[2] - left[3] > 1, "\(left)")
    }

    @Test("leaves the near end alone while the far end is silent", arguments: cases(rates))
    func nearEndKept(rate: Int) throws {
        let near = speech(seconds: 4, rate: rate, seed: 7)
        let processor = try ProcessingBackend.webRTC.makeProcessor(
            sampleRate: rate, settings: ProcessingSettings(echo: .medium, voiceDetection: .moderate))
        let run = ProcessorRun(processor, capture: near)
        let half = near.count / 2
        let found = lag(of: run.output[loudest(near, length: rate / 4)], behind: near, upTo: rate / 50)
        #expect(found.correlation > 0.95)
        #expect(abs(rms(run.output[half...]) - rms(near[half...])) < 1.5)
    }

    @Test("the delay is the one in the table", arguments: cases(rates))
    func delay(rate: Int) throws {
        let near = speech(seconds: 3, rate: rate, seed: 8)
        let table: [ProcessingSettings] = [
            .bypass, ProcessingSettings(gain: .fixed(decibels: 0)),
            ProcessingSettings(noise: .low), ProcessingSettings(echo: .medium),
            ProcessingSettings(echo: .soft, noise: .low), ProcessingSettings(voiceDetection: .high),
        ]
        let extended = ProcessingBackend.webRTC(extendedFilter: true, delayAgnostic: true)
        for (backend, settings) in table.map({ (.webRTC, $0) }) + [(extended, ProcessingSettings(echo: .medium))] {
            let processor = try backend.makeProcessor(sampleRate: rate, settings: settings)
            let run = ProcessorRun(processor, capture: near)
            let found = lag(of: run.output[loudest(near, length: rate / 8)], behind: near, upTo: rate / 50)
            // The band splitters are not linear-phase: at 32 and 48 kHz the delay depends a little on the signal.
            let tolerance = [16_000: 1, 32_000: 4, 48_000: 2][rate] ?? 0
            #expect(abs(found.frames - processor.processingDelay) <= tolerance, "\(settings) at \(rate)")
            #expect(run.reports.last?.processingDelay == processor.processingDelay)
        }
    }

    @Test("each level of noise suppression takes more noise", arguments: cases(rates))
    func noiseReduced(rate: Int) throws {
        let hiss = noise(seconds: 5, rate: rate, seed: 9, level: -50)
        let reduction = try ProcessingSettings.NoiseSuppression.allCases.map { level in
            let processor = try ProcessingBackend.webRTC.makeProcessor(
                sampleRate: rate, settings: ProcessingSettings(noise: level))
            let output = ProcessorRun(processor, capture: hiss).output
            return rms(hiss[(4 * rate)...]) - rms(output[(4 * rate)...])
        }
        #expect(abs(reduction[0]) < 0.1)
        #expect(reduction[1] > 4)
        #expect(reduction[2] > reduction[1] + 3)
        #expect(reduction[3] > reduction[2] + 2)
        #expect(reduction[4] >= reduction[3])
    }

    @Test("fixed gain is the gain that was asked for", arguments: cases(rates))
    func fixedGain(rate: Int) throws {
        let quiet = speech(seconds: 3, rate: rate, seed: 10, level: -45)
        let processor = try ProcessingBackend.webRTC.makeProcessor(
            sampleRate: rate, settings: ProcessingSettings(gain: .fixed(decibels: 12)))
        let output = ProcessorRun(processor, capture: quiet).output
        #expect(abs(rms(output[rate...]) - rms(quiet[rate...]) - 12) < 2)
    }

    @Test("adaptive gain brings quiet and loud talkers together")
    func adaptiveGain() throws {
        let levels: [Float] = try [Float(-40), -10].map { level in
            let talker = speech(seconds: 12, rate: 16_000, seed: 11, level: level)
            let processor = try ProcessingBackend.webRTC.makeProcessor(
                sampleRate: 16_000, settings: ProcessingSettings(gain: .conversation))
            let output = ProcessorRun(processor, capture: talker).output
            #expect(output.allSatisfy { abs($0) <= 1 })
            return rms(output[96_000...])
        }
        // 30 dB apart at the input; pauses take the mean below the level of speech.
        #expect(abs(levels[1] - levels[0]) < 3, "\(levels)")
        #expect(abs(levels[0] + 20) < 6, "\(levels)")
    }

    @Test("voice is told from noise", arguments: cases(rates))
    func voiceDetection(rate: Int) throws {
        let hiss = noise(seconds: 4, rate: rate, seed: 12, level: -55)
        let talk = sum(speech(seconds: 4, rate: rate, seed: 13, level: -24), hiss)
        let processor = try ProcessingBackend.webRTC.makeProcessor(
            sampleRate: rate, settings: ProcessingSettings(noise: .low, voiceDetection: .low))
        let run = ProcessorRun(processor, capture: hiss + talk)
        let voiced = run.reports.map { $0.voiceActivity == true ? 1.0 : 0.0 }
        let inNoise = voiced[200..<400].reduce(0, +) / 200
        let inSpeech = voiced[450..<800].reduce(0, +) / 350
        #expect(inSpeech > inNoise + 0.4, "noise \(inNoise), speech \(inSpeech)")
        #expect(inNoise < 0.2)
        let probability = run.reports.map { $0.speechProbability ?? -1 }
        #expect(probability[450..<800].max() ?? 0 > 0.8)
        #expect(probability[300..<400].allSatisfy { $0 >= 0 && $0 < 0.7 })
    }

    @Test("what is off is unknown, not 0")
    func unknown() throws {
        let processor = try ProcessingBackend.webRTC.makeProcessor(
            sampleRate: 48_000, settings: ProcessingSettings(highPass: true))
        let run = ProcessorRun(processor, capture: speech(seconds: 0.5, rate: 48_000, seed: 14))
        #expect(run.reports.count == 50)
        for report in run.reports {
            #expect(report.voiceActivity == nil)
            #expect(report.speechProbability == nil)
            #expect(report.echoReturnLoss == nil)
            #expect(report.echoReturnLossEnhancement == nil)
            #expect(report.libraryDelayMilliseconds == nil)
            #expect(report.mayContainEcho == nil)
        }
    }
}
