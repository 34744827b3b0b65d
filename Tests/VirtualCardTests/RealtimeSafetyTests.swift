import CALSA
import CLinuxRealtime
import Testing

@Suite("Virtual card: real-time safety", .serialized)
struct RealtimeSafetyTests {
    @Test(
        "waiting, reading and writing allocate nothing",
        .enabled(if: dv_thread_allocations() >= 0, "needs the allocation counter"),
        arguments: ["", ",PPM_CAPTURE=100", ",JITTER_US=1000,ROOM=room,NEAR=near"])
    func allocations(arguments: String) throws {
        let sound = RoomTests.raw(Noise.float(2_000, seed: 51))
        try RoomTests.withFile(".f32", sound) { path in
            let arguments = arguments.replacing("=room", with: "=" + path).replacing("=near", with: "=" + path)
            try CardWorkshop.withCard("VIRTUAL=1" + arguments) { card in
                let playback = try CardStream(card.pcm, .playback)
                let capture = try CardStream(card.pcm, .capture)
                var block = [Float](repeating: 0, count: 480)
                for _ in 0..<4 { try playback.write(block) }
                try playback.start()
                try capture.start()
                var before: Int64 = 0
                for cycle in 0..<200 {
                    if cycle == 10 { before = Int64(dv_thread_allocations()) }
                    try capture.wait()
                    _ = try capture.available()
                    _ = try playback.delay()
                    try capture.read(into: &block)
                    try playback.write(block)
                }
                #expect(Int64(dv_thread_allocations()) == before)
            }
        }
    }
}
