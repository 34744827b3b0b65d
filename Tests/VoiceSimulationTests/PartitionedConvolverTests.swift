import Testing
import VoiceSimulation

@Suite struct PartitionedConvolverTests {
    /// Response lengths around and beyond the partitions' borders, and ways to cut the stream.
    @Test(arguments: [0, 1, 100, 127, 128, 129, 256, 300, 1_000, 2_049])
    func `equals direct convolution`(taps: Int) {
        // Given a random response and a random stream
        let response = whiteNoise(taps, seed: 3)
        let input = whiteNoise(3_000, seed: 4)
        let expected = input.indices.map { index in
            var sum = 0.0
            for tap in 0..<min(taps, index + 1) { sum += Double(response[tap]) * Double(input[index - tap]) }
            return Float(sum)
        }
        let scale = (response.reduce(0) { $0 + $1 * $1 } + 1).squareRoot()
        for blocks in [[480], [1], [128], [1, 7, 64, 129, 480, 5]] {
            // When the stream goes through in blocks
            var convolver = PartitionedConvolver(impulseResponse: response.span)
            let output = convolve(&convolver, input, blocks: blocks)
            // Then each sample is the sum of products, without delay; errors count against the size of that sum
            let isClose = zip(output, expected).allSatisfy { abs($0 - $1) / scale < 1e-5 }
            #expect(isClose && output.count == input.count, "taps \(taps), blocks \(blocks)")
        }
    }

    @Test func `how the stream is cut does not show in a single bit`() {
        let response = whiteNoise(1_500, seed: 5)
        let input = whiteNoise(4_000, seed: 6)
        var whole = PartitionedConvolver(impulseResponse: response.span)
        let expected = convolve(&whole, input, blocks: [4_000])
        for blocks in [[1], [480], [3, 128, 77]] {
            var convolver = PartitionedConvolver(impulseResponse: response.span)
            let output = convolve(&convolver, input, blocks: blocks)
            #expect(isSame(output, expected), "blocks \(blocks)")
        }
    }

    @Test func `a reset forgets the past`() {
        let response = whiteNoise(700, seed: 7)
        var convolver = PartitionedConvolver(impulseResponse: response.span)
        let first = convolve(&convolver, whiteNoise(1_000, seed: 8), blocks: [480])
        convolver.reset()
        let output = convolve(&convolver, [Float](repeating: 0, count: 1_000), blocks: [480])
        #expect(output.allSatisfy { $0 == 0 })
        convolver.reset()
        let again = convolve(&convolver, whiteNoise(1_000, seed: 8), blocks: [480])
        #expect(isSame(again, first))
    }

    private func convolve(_ convolver: inout PartitionedConvolver, _ input: [Float], blocks: [Int]) -> [Float] {
        var output: [Float] = []
        for range in cut(input.count, into: blocks) {
            var block = [Float](repeating: .nan, count: range.count)
            var span = block.mutableSpan
            convolver.process(input.span.extracting(range), into: &span)
            output += block
        }
        return output
    }
}
