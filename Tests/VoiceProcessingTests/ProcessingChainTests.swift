import TestCases
import Testing

@testable import VoiceProcessing

@Suite("Chain without time stamps")
struct ProcessingChainTests {
    private func run(
        _ mic: [Float], _ far: [Float], rate: Int, backend: ProcessingBackend = .webRTC,
        configuration: ProcessingChain.Configuration = .init()
    ) throws -> (output: [Float], reports: [ProcessingChain.Report]) {
        let chain = try ProcessingChain(
            sampleRate: rate, settings: ProcessingSettings(echo: .soft), backend: backend, configuration: configuration)
        let run = ChainRun(chain, capture: mic, reference: far)
        return (run.output, run.reports)
    }

    @Test("removes an echo of unknown delay, far beyond the canceller's own reach", arguments: cases([16_000, 48_000]))
    func unknownDelay(rate: Int) throws {
        let far = speech(seconds: 5, rate: rate, seed: 71)
        let delay = rate * 3 / 10
        let mic = sum(echo(of: far, rate: rate, delay: delay), noise(seconds: 5, rate: rate, seed: 72, level: -70))
        let (output, reports) = try run(mic, far, rate: rate)
        #expect(rms(mic[(3 * rate)...]) - rms(output[(3 * rate)...]) > 20)
        let last = try #require(reports.last)
        #expect(try abs(#require(last.echoDelay).delay - delay) <= rate / 2000)
        #expect(last.echoPathAssumed)
        #expect(try #require(last.retimings) <= 2)
    }

    @Test("recovers from a jump within a second and a half")
    func jump() throws {
        let far = speech(seconds: 10, rate: 16_000, seed: 73)
        let early = echo(of: far, rate: 16_000, delay: 640)
        let late = echo(of: far, rate: 16_000, delay: 640 + 1_920)
        let hiss = noise(seconds: 10, rate: 16_000, seed: 74, level: -70)
        let mic = sum(Array(early[..<80_000]) + Array(late[80_000...]), hiss)
        let (output, _) = try run(mic, far, rate: 16_000)
        #expect(rms(mic[104_000...]) - rms(output[104_000...]) > 18)
    }

    @Test("an echo that moves while nothing is cancelled is known when it is cancelled again")
    func movedWhileOff() throws {
        // Given an echo that jumps by 120 ms half a second after the canceller is switched off
        let far = speech(seconds: 7, rate: 16_000, seed: 79)
        let early = echo(of: far, rate: 16_000, delay: 640)
        let late = echo(of: far, rate: 16_000, delay: 640 + 1_920)
        let hiss = noise(seconds: 7, rate: 16_000, seed: 80, level: -70)
        let mic = sum(Array(early[..<48_000]) + Array(late[48_000...]), hiss)
        var chain = try ProcessingChain(
            sampleRate: 16_000, settings: ProcessingSettings(echo: .soft), backend: .speexDSP)
        // When it is switched on again
        var delays: [Int?] = []
        for number in 0..<650 {
            if number == 250 { try chain.processor.apply(ProcessingSettings(echo: .off)) }
            if number == 600 { try chain.processor.apply(ProcessingSettings(echo: .soft)) }
            let range = number * 160..<(number + 1) * 160
            var block = Array(mic[range])
            var span = block.mutableSpan
            delays.append(chain.run(capture: &span, reference: far.span.extracting(range)).echoDelay?.delay)
        }
        // Then it is not looked for anew
        #expect(try abs(#require(delays[249]) - 640) <= 8)
        #expect(try abs(#require(delays[600]) - 2_560) <= 8)
    }

    @Test("a headset's wearer is left alone")
    func headset() throws {
        let far = speech(seconds: 6, rate: 16_000, seed: 75)
        let near = sum(
            speech(seconds: 6, rate: 16_000, seed: 76), noise(seconds: 6, rate: 16_000, seed: 77, level: -65))
        let (output, reports) = try run(near, far, rate: 16_000)
        let last = try #require(reports.last)
        #expect(!last.echoPathAssumed)
        #expect(last.echoDelay == nil)
        // The last three seconds differ from the input by its delay alone, -15 dB of difference at most.
        let range = 48_000..<95_000
        let shift = last.processing.processingDelay
        let difference = range.map { output[$0] - near[$0 - shift] }
        #expect(rms(output[range]) - rms(difference) > 15)
    }

    @Test("a delay that is known from the start needs no search")
    func expectedDelay() throws {
        let far = speech(seconds: 2, rate: 16_000, seed: 78)
        let mic = sum(
            echo(of: far, rate: 16_000, delay: 3_200), noise(seconds: 2, rate: 16_000, seed: 79, level: -70))
        let told = try run(mic, far, rate: 16_000, configuration: .init(expectedDelay: 0.2)).output
        let untold = try run(mic, far, rate: 16_000).output
        // The echo's first 0.3 s, before any search can be done.
        let beginning = 3_200 + 800..<3_200 + 800 + 4_800
        let (removed, unaided) = (
            rms(mic[beginning]) - rms(told[beginning]), rms(mic[beginning]) - rms(untold[beginning])
        )
        #expect(removed > unaided + 6, "\(removed) dB, \(unaided) dB without")
    }

    @Test("a number that cannot be is refused by its name")
    func impossible() throws {
        typealias Patience = ProcessingChain.Configuration.Patience
        let cases: [(ProcessingChain.Configuration, ProcessingError.Field)] = [
            (.init(lead: .nan), .lead), (.init(lead: -0.001), .lead), (.init(lead: 1e300), .lead),
            (.init(tolerance: .nan), .tolerance), (.init(tolerance: .infinity), .tolerance),
            (.init(expectedDelay: .nan), .expectedDelay), (.init(expectedDelay: -.infinity), .expectedDelay),
            (.init(patience: Patience(beforeFound: .nan, afterFound: 1)), .patience),
            (.init(patience: Patience(beforeFound: 1, afterFound: -1)), .patience),
        ]
        for (configuration, field) in cases {
            #expect(throws: ProcessingError.invalidSetting(field)) {
                _ = try ProcessingChain(
                    sampleRate: 16_000, settings: .voiceChat, configuration: configuration
                ).processor
            }
        }
        // An expected delay beyond what is kept of the reference is taken for the longest; patience may have no end.
        let patience = Patience(beforeFound: .infinity, afterFound: .infinity)
        for configuration in [.init(expectedDelay: 1e300), ProcessingChain.Configuration(patience: patience)] {
            _ = try ProcessingChain(sampleRate: 16_000, settings: .voiceChat, configuration: configuration).processor
        }
    }

    @Test("a processor that finds the echo by itself is told the expected delay")
    func hint() throws {
        let far = speech(seconds: 2, rate: 16_000, seed: 81)
        let mic = sum(
            echo(of: far, rate: 16_000, delay: 8_000), noise(seconds: 2, rate: 16_000, seed: 82, level: -70))
        let told = try run(mic, far, rate: 16_000, backend: .native, configuration: .init(expectedDelay: 0.5)).output
        let untold = try run(mic, far, rate: 16_000, backend: .native).output
        func direct(_ delay: Int) throws -> [Float] {
            let processor = try ProcessingBackend.native.makeProcessor(
                sampleRate: 16_000, settings: ProcessingSettings(echo: .soft))
            return ProcessorRun(processor, capture: mic, reference: far, delay: delay).output
        }
        #expect(try told == direct(8_000))
        #expect(try untold == direct(0))
        #expect(told != untold)
    }
}
