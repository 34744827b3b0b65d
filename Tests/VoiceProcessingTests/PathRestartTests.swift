import Glibc
import TestCases
import Testing

@testable import VoiceProcessing

/// What happens to a path that is the same all the time, though no filter fits it for long.
@Suite("A path that stays")
struct PathRestartTests {
    private static let rate = 16_000

    private static func process(_ microphone: [Float], _ far: [Float]) throws -> [ProcessingReport] {
        let processor = try ProcessingBackend.native.makeProcessor(
            sampleRate: rate, settings: ProcessingSettings(echo: .soft))
        return ProcessorRun(processor, capture: microphone, reference: far).reports
    }

    /// How often what had been measured of the path was thrown away.
    private static func restarts(_ reports: [ProcessingReport]) -> Int {
        zip(reports, reports.dropFirst()).count { before, after in
            (before.echoReadiness ?? 0) > 0 && after.echoReadiness == 0
        }
    }

    /// What a loudspeaker makes of the far end whose cone hardly moves beyond a tenth of full scale, and less one way
    /// than the other.
    private static func distorted(_ far: [Float]) -> [Float] {
        far.map { sample in
            let reach: Float = sample > 0 ? 0.06 : 0.12
            return reach * tanhf(sample / reach)
        }
    }

    @Test(
        "is kept when another arrival of its echo stands out, in a quiet room and in one that is silent",
        arguments: cases([1, 8, 14]), [Float(-70), -200])
    func arrivals(seed: Int, room: Float) throws {
        // Given a loudspeaker that distorts so that no filter ever fits, and two arrivals 30 ms apart that take turns
        // to be the stronger one, the later one first
        let far = speech(seconds: 16, rate: Self.rate, seed: UInt64(seed), level: -16)
        let early = echo(of: Self.distorted(far), rate: Self.rate, delay: 1_600)
        let late = echo(of: Self.distorted(far), rate: Self.rate, delay: 2_080, seed: 7)
        let background = noise(seconds: 16, rate: Self.rate, seed: 4, level: room)
        let microphone = early.indices.map { index in
            let isLate = (index / (4 * Self.rate)).isMultiple(of: 2)
            return background[index]
                + (isLate ? 0.25 * early[index] + late[index] : early[index] + 0.25 * late[index])
        }
        // When
        let decisions = try Self.process(microphone, far).map(\.echoDecisions)
        let moves = decisions.indices.filter { decisions[$0]?.move != nil }
        // Then the path is never given up. Its first sounds may be found twice; the reference begins earlier once the
        // earlier arrival stands out for the first time, and stays there
        #expect(!decisions.contains { $0?.isPathLost == true }, "seed \(seed), \(room) dBFS")
        #expect(moves.count { $0 < 100 } <= 2, "seed \(seed), \(room) dBFS: \(moves)")
        #expect(moves.count { (100..<500).contains($0) } <= 1, "seed \(seed), \(room) dBFS: \(moves)")
        #expect(!moves.contains { $0 >= 500 }, "seed \(seed), \(room) dBFS: \(moves)")
    }

    @Test("begins anew for no quick filter that is better for a moment", arguments: cases([1, 2, 3]))
    func distortion(seed: Int) throws {
        let far = speech(seconds: 12, rate: Self.rate, seed: UInt64(seed), level: -16)
        let room = noise(seconds: 12, rate: Self.rate, seed: 4, level: -70)
        let microphone = sum(echo(of: Self.distorted(far), rate: Self.rate, delay: 640), room)
        let restarts = Self.restarts(try Self.process(microphone, far))
        #expect(restarts == 0, "seed \(seed)")
    }
}
