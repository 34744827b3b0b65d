/// The mean of several channels; a single one passes as it is.
final class MonoMixNode: GraphNode {
    func process(_ input: borrowing GraphInput, into output: inout GraphOutput) {
        let channels = input.channels()
        let first = input.sound()
        var mean = output.sound()
        let scale = 1 / Float(channels)
        for index in 0..<input.frames { mean[index] = first[index] * scale }
        for channel in 1..<channels {
            let sound = input.sound(0, channel: channel)
            for index in 0..<input.frames { mean[index] += sound[index] * scale }
        }
    }
}

/// One channel in each of several.
final class MonoCopyNode: GraphNode {
    func process(_ input: borrowing GraphInput, into output: inout GraphOutput) {
        let sound = input.sound()
        for channel in 0..<output.channels() {
            var copy = output.sound(0, channel: channel)
            for index in 0..<input.frames { copy[index] = sound[index] }
        }
    }
}

/// The sum of what is connected, bounded to full scale.
final class MixerNode: GraphNode {
    func process(_ input: borrowing GraphInput, into output: inout GraphOutput) {
        var sum = output.sound()
        for index in 0..<input.frames { sum[index] = 0 }
        for port in 0..<GraphLimits.ports where input.channels(port) > 0 {
            let sound = input.sound(port)
            for index in 0..<input.frames { sum[index] += sound[index] }
        }
        for index in 0..<input.frames { sum[index] = max(-1, min(1, sum[index])) }
    }
}
