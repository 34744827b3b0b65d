import Glibc
import Testing
import VoiceSimulation

@Suite struct RoomImpulseResponseTests {
    /// Size in metres, reverberation time in milliseconds.
    @Test(
        arguments: [
            ([3, 2.6, 2.4], 150), ([4, 3.2, 2.6], 300), ([6, 4.5, 2.8], 500), ([8, 6, 3.2], 800),
            ([2.6, 1.45, 1.2], 80),
            ([10, 3, 2.5], 400),
        ] as [(SIMD3<Double>, Int)])
    func `decays in the reverberation time asked for`(size: SIMD3<Double>, milliseconds: Int) throws {
        // Given a room with its microphone in no symmetric place
        let room = ShoeboxRoom(
            size: size, loudspeaker: size * [0.31, 0.44, 0.37], microphone: size * [0.45, 0.4, 0.35],
            reverberationTime: .milliseconds(milliseconds))
        // When its response is computed far enough to see the decay
        let response = try RoomImpulseResponse(of: room, length: .milliseconds(milliseconds))
        // Then Schroeder's integral falls at the rate asked for
        let found = try #require(response.reverberationTime()) / .milliseconds(1)
        #expect(abs(found / Double(milliseconds) - 1) < 0.2, "\(found) ms for \(milliseconds) ms")
    }

    @Test func `without reflections only the direct sound arrives`() throws {
        // Given a flight of 280 whole frames, 2.002 m
        let distance = 280 * RoomImpulseResponse.speedOfSound / 48_000
        let room = ShoeboxRoom(
            size: [4, 4, 4], loudspeaker: [1, 2, 2], microphone: [1 + distance, 2, 2], reverberationTime: .zero)
        let response = try RoomImpulseResponse(of: room, length: .milliseconds(20))
        let peak = try #require(response.taps.indices.max { response.taps[$0] < response.taps[$1] })
        #expect(peak == response.directFrame)
        #expect(peak == 280)
        #expect(abs(response.taps[peak] - 0.5) < 0.02, "1 / distance, less what the high-pass takes")
        #expect(response.taps[(peak + 25)...].allSatisfy { abs($0) < 0.02 }, "only the high-pass rings on")
        #expect(response.taps[..<(peak - 25)].allSatisfy { $0 == 0 })
    }

    @Test func `the first reflection comes from the nearest wall`() throws {
        // Given a loudspeaker and a microphone 1 m apart, both 0.5 m from one wall and far from the others
        let room = ShoeboxRoom(
            size: [20, 20, 20], loudspeaker: [10, 10, 0.5], microphone: [11, 10, 0.5],
            reverberationTime: .milliseconds(800))
        let response = try RoomImpulseResponse(of: room, length: .milliseconds(40))
        // Then its image is sqrt(1 + 1) m away
        let expected = Int((2.0.squareRoot() / RoomImpulseResponse.speedOfSound * 48_000).rounded())
        let window = (response.directFrame + 25)..<(response.directFrame + 200)
        let peak = try #require(window.max { abs(response.taps[$0]) < abs(response.taps[$1]) })
        #expect(abs(peak - expected) <= 1)
        let ratio = Double(response.taps[peak] / response.taps[response.directFrame]) * 2.0.squareRoot()
        #expect(abs(ratio - response.reflection) < 0.1, "\(ratio), \(response.reflection)")
    }

    @Test func `rooms that cannot be are refused by name`() {
        let good = ShoeboxRoom(
            size: [4, 4, 4], loudspeaker: [1, 2, 2], microphone: [3, 2, 2], reverberationTime: .milliseconds(100))
        let cases: [(String, (inout ShoeboxRoom) -> Void)] = [
            ("room.size", { $0.size.x = .nan }), ("room.size", { $0.size.y = 1e9 }),
            ("room.loudspeaker", { $0.loudspeaker.z = 4.5 }), ("room.microphone", { $0.microphone.x = -1 }),
            ("room.microphone", { $0.microphone = $0.loudspeaker }),
            ("room.reverberationTime", { $0.reverberationTime = .seconds(-1) }),
        ]
        for (setting, change) in cases {
            var room = good
            change(&room)
            let error = #expect(throws: SimulationSettingError.self) {
                _ = try RoomImpulseResponse(of: room, length: .milliseconds(50))
            }
            #expect(error?.setting == setting)
        }
    }
}
