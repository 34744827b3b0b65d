/// A rectangular room with a loudspeaker and a microphone in it.
package struct ShoeboxRoom: Equatable, Sendable {
    /// Length, width and height in metres.
    package var size: SIMD3<Double>
    /// Where the loudspeaker is, in metres from one corner of the floor.
    package var loudspeaker: SIMD3<Double>
    /// Where the microphone is, in metres from the same corner.
    package var microphone: SIMD3<Double>
    /// Time in which the reverberation decays by 60 dB; zero: the walls swallow everything.
    package var reverberationTime: Duration

    /// A room; `RoomImpulseResponse` and `RoomAcoustics` refuse those that cannot be.
    package init(
        size: SIMD3<Double>, loudspeaker: SIMD3<Double>, microphone: SIMD3<Double>, reverberationTime: Duration
    ) {
        self.size = size
        self.loudspeaker = loudspeaker
        self.microphone = microphone
        self.reverberationTime = reverberationTime
    }

    /// Distance from the loudspeaker to the microphone in metres.
    package var distance: Double { (loudspeaker - microphone).length }

    var volume: Double { size.x * size.y * size.z }
    var surface: Double { 2 * (size.x * size.y + size.y * size.z + size.z * size.x) }

    func validate(_ name: String) throws(SimulationSettingError) {
        for axis in 0..<3 {
            try require((0.3...100).contains(size[axis]), "\(name).size", "must be 0.3 m to 100 m along each axis")
            try require(
                loudspeaker[axis] > 0 && loudspeaker[axis] < size[axis], "\(name).loudspeaker",
                "must be inside the room")
            try require(
                microphone[axis] > 0 && microphone[axis] < size[axis], "\(name).microphone", "must be inside the room")
        }
        try require(distance >= 0.01, "\(name).microphone", "must be at least 1 cm from the loudspeaker")
        try require(
            reverberationTime >= .zero && reverberationTime <= .seconds(2), "\(name).reverberationTime",
            "must be between 0 and 2 s")
    }
}

extension SIMD3<Double> {
    var length: Double { (self * self).sum().squareRoot() }
}
