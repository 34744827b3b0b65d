import TestCases
import Testing
import VoiceSignal

@Suite("Samples")
struct SampleTests {
    @Test("16 bits come back as they were, all of them")
    func sixteenBits() {
        for sample in Int16.min ... .max { #expect(Int16(fullScale: Float(fullScale: sample)) == sample) }
    }

    @Test(
        "what is between is rounded, what is too loud is clipped, what is no number is silence",
        arguments: [
            (0.6 / 32_768, 1), (-0.6 / 32_768, -1), (1, 32_767), (-1, -32_768), (1.5, 32_767), (-7, -32_768),
            (.infinity, 32_767), (-.infinity, -32_768), (.nan, 0),
        ] as [(Float, Int16)])
    func floats(sample: Float, expected: Int16) {
        #expect(Int16(fullScale: sample) == expected)
    }

    @Test("the peak of a block is its largest magnitude, whatever its length and wherever it stands")
    func peaks() {
        #expect(peak(of: [Float]().span) == 0)
        for count in 1...35 {
            for place in 0..<count {
                for loudest: Float in [0.5, -0.5] {
                    // Given a block with one loudest sample among quieter ones and one that is no number
                    var block = (0..<count).map { index in Float(index % 5) / 20 - 0.1 }
                    if count > 1 { block[(place + 1) % count] = .nan }
                    block[place] = loudest
                    // Then it is found
                    #expect(peak(of: block.span) == 0.5)
                }
            }
        }
    }
}
