// tick COUNT: COUNT blocks of 10 ms through `ProcessingChain`, for callgrind: as an app in Swift has them. The same
// sound, and otherwise the same work, as tick.c.
import Glibc
import VoiceProcessing

let frames = 480
let echoTicks = 2

@main
struct Tick {
    static func main() throws {
        guard CommandLine.arguments.count == 2, let ticks = Int(CommandLine.arguments[1]), ticks > 0 else { exit(64) }
        var chain = try ProcessingChain(sampleRate: 48_000, settings: .voiceChat)
        var reference = [[Float]](repeating: [Float](repeating: 0, count: frames), count: echoTicks + 1)
        var capture = [Float](repeating: 0, count: frames)
        var state: UInt32 = 1
        var sum = 0.0
        for tick in 0..<ticks {
            let (now, before) = (tick % (echoTicks + 1), (tick + 1) % (echoTicks + 1))
            for frame in 0..<frames {
                state = state &* 1_664_525 &+ 1_013_904_223
                reference[now][frame] = (Float(state >> 8) / 8_388_608 - 1) * Float(tick % 25) * 0.01
            }
            for frame in 0..<frames { capture[frame] = reference[before][frame] * 0.3 }
            var block = capture.mutableSpan
            // Out of the array for the call, as a span may not outlive an element that an array hands out.
            let played = reference[now]
            _ = chain.run(capture: &block, reference: played.span)
            sum += Double(capture[0])
        }
        print(sum)
    }
}
