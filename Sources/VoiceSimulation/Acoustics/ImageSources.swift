import Glibc

/// The mirror images of a loudspeaker in the walls of its room, as the microphone hears them.
struct ImageSources {
    /// Along one axis: where an image is, seen from the microphone, and how many walls it was mirrored in.
    private struct AxisImage {
        let offset: Double
        let reflections: Int
    }

    /// Width of the bins in which the images' energy is gathered, in seconds.
    private static let binSeconds = 0.001
    /// How far the decay has to be known to read its T20 slope, as a part of the reverberation time.
    private static let decaySpan = 0.7

    private let axes: [[AxisImage]]
    private let reach: Double
    /// What each wall reflects of the pressure.
    let reflection: Double

    init(of room: ShoeboxRoom, within length: Duration) {
        reach = RoomImpulseResponse.speedOfSound * (length / .seconds(1))
        let time = room.reverberationTime / .seconds(1)
        let decayReach = RoomImpulseResponse.speedOfSound * time * Self.decaySpan
        let farthest = max(reach, decayReach)
        axes = (0..<3).map { axis in Self.images(of: room, axis: axis, reach: farthest) }
        reflection = time > 0 ? Self.fitReflection(room, axes: axes, time: time, reach: decayReach) : 0
    }

    /// Adds every image within reach into a response.
    func place(frames: Int, sampleRate: Double) -> [Float] {
        let sinc = SincTable().weights
        var response = [Float](repeating: 0, count: frames)
        let framesPerMetre = sampleRate / RoomImpulseResponse.speedOfSound
        Self.forEachImage(axes, reach: reach) { distance, reflections in
            let amplitude = Float(pow(reflection, Double(reflections)) / distance)
            guard amplitude != 0 else { return }
            let position = distance * framesPerMetre
            let frame = Int(position)
            let phase = Int(((position - Double(frame)) * Double(SincTable.phases)).rounded())
            let first = frame - SincTable.reach + 1
            let from = max(0, -first)
            for tap in from..<max(from, min(SincTable.width, frames - first)) {
                response[first + tap] += amplitude * sinc[phase * SincTable.width + tap]
            }
        }
        return response
    }

    private static func images(of room: ShoeboxRoom, axis: Int, reach: Double) -> [AxisImage] {
        let size = room.size[axis]
        let count = Int(reach / (2 * size)) + 1
        return (-count...count).flatMap { period in
            [0, 1].map { mirrored in
                let source = mirrored == 0 ? room.loudspeaker[axis] : -room.loudspeaker[axis]
                let offset = source + 2 * Double(period) * size - room.microphone[axis]
                return AxisImage(offset: offset, reflections: abs(period - mirrored) + abs(period))
            }
        }
    }

    private static func forEachImage(_ axes: [[AxisImage]], reach: Double, _ body: (Double, Int) -> Void) {
        for x in axes[0] where abs(x.offset) < reach {
            for y in axes[1] {
                let plane = x.offset * x.offset + y.offset * y.offset
                guard plane < reach * reach else { continue }
                for z in axes[2] {
                    let square = plane + z.offset * z.offset
                    guard square < reach * reach else { continue }
                    body(square.squareRoot(), x.reflections + y.reflections + z.reflections)
                }
            }
        }
    }

    /// The reflection coefficient whose images decay by 60 dB in `time` seconds.
    private static func fitReflection(_ room: ShoeboxRoom, axes: [[AxisImage]], time: Double, reach: Double) -> Double {
        // Energy by time and number of reflections, so that a coefficient is tried without visiting the images again.
        let bins = Int(reach / RoomImpulseResponse.speedOfSound / binSeconds) + 1
        let orders = axes.reduce(1) { $0 + ($1.map(\.reflections).max() ?? 0) }
        var energy = [Double](repeating: 0, count: bins * orders)
        forEachImage(axes, reach: reach) { distance, reflections in
            guard reflections > 0 else { return }
            let bin = Int(distance / RoomImpulseResponse.speedOfSound / binSeconds)
            energy[bin * orders + reflections] += 1 / (distance * distance)
        }
        // Eyring: time = 24 ln 10 / c * V / (-S ln(1 - absorption)), and the coefficient is sqrt(1 - absorption).
        var exponent = 24 * log(10.0) * room.volume / (RoomImpulseResponse.speedOfSound * room.surface * time) / 2
        for _ in 0..<fittingRounds {
            let energies = (0..<bins).map { bin in
                (0..<orders).reduce(0.0) { sum, order in
                    let part = energy[bin * orders + order]
                    return part == 0 ? sum : sum + part * exp(-2 * exponent * Double(order))
                }
            }
            guard let found = decayTime(energies: energies, rate: 1 / binSeconds) else {
                exponent *= 1.5  // hardly decays within the span: absorb more
                continue
            }
            exponent *= found / time
        }
        return exp(-exponent)
    }

    /// Each round takes the error of the decay time to about a tenth; six leave less than what the bins resolve.
    private static let fittingRounds = 6
}
