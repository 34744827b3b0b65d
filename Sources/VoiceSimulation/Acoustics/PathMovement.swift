/// How the way from the loudspeaker to the microphone changes all the time. It goes through four places, to and fro.
package enum PathMovement: Equatable, Sendable {
    /// Somebody walks about: at each place a part of the reflections comes from elsewhere; the direct sound stays.
    /// - Parameters:
    ///   - share: amplitude of what comes from elsewhere, relative to all reflections: 0...1.
    ///   - step: time from one place to the next, 10 ms to a minute.
    case walker(share: Double, step: Duration)
    /// The microphone sways in somebody's hand, along a line.
    /// - Parameters:
    ///   - reach: from the first place to the last, in metres; both are inside the room.
    ///   - step: time from one place to the next, 10 ms to a minute.
    case microphone(reach: SIMD3<Double>, step: Duration)

    /// How many places there are.
    static let places = 4
    /// Where a walker's reflections are taken from, relative to the room's size: far from each other and from the
    /// walls.
    private static let spots: InlineArray<3, SIMD3<Double>> = [
        [0.23, 0.31, 0.62], [0.69, 0.78, 0.47], [0.81, 0.27, 0.71],
    ]

    var step: Duration {
        switch self {
        case .walker(_, let step), .microphone(_, let step): step
        }
    }

    func validate(_ name: String, in room: ShoeboxRoom?) throws(SimulationSettingError) {
        try require(step >= .milliseconds(10) && step <= .seconds(60), "\(name).step", "must be between 10 ms and 60 s")
        switch self {
        case .walker(let share, _): try require((0...1).contains(share), "\(name).share", "must be between 0 and 1")
        case .microphone:
            guard let room else { return }
            for place in 1..<Self.places { try microphone(at: place, in: room).validate("\(name).reach") }
        }
    }

    /// The response at each place, the first being the room's own.
    func responses(in room: ShoeboxRoom, length: Duration) throws(SimulationSettingError) -> [[Float]] {
        let first = try RoomImpulseResponse(of: room, length: length)
        var all = [first.taps]
        for place in 1..<Self.places {
            let other = try RoomImpulseResponse(of: elsewhere(place, in: room), length: length)
            switch self {
            case .microphone: all.append(other.taps)
            case .walker(let share, _): all.append(Self.mix(first, reflectionsOf: other, share: share))
            }
        }
        return all
    }

    private func elsewhere(_ place: Int, in room: ShoeboxRoom) -> ShoeboxRoom {
        switch self {
        case .microphone: microphone(at: place, in: room)
        case .walker: Self.heardElsewhere(place, in: room)
        }
    }

    private func microphone(at place: Int, in room: ShoeboxRoom) -> ShoeboxRoom {
        guard case .microphone(let reach, _) = self else { return room }
        var moved = room
        moved.microphone += reach * (Double(place) / Double(Self.places - 1))
        return moved
    }

    /// The same room heard from elsewhere: the same reverberation, other reflections.
    private static func heardElsewhere(_ place: Int, in room: ShoeboxRoom) -> ShoeboxRoom {
        var other = room
        other.microphone = room.size * spots[place - 1]
        return other
    }

    /// The direct sound of one response and a mixture of both's reflections, of the same energy as the first's alone.
    private static func mix(
        _ first: RoomImpulseResponse, reflectionsOf other: RoomImpulseResponse, share: Double
    ) -> [Float] {
        // 2 ms after the direct sound the first reflections have not been anywhere near a person.
        let early = first.directFrame + first.sampleRate / 500
        func energy(_ taps: [Float]) -> Double { taps.dropFirst(early).reduce(0) { $0 + Double($1) * Double($1) } }
        let (own, foreign) = (energy(first.taps), energy(other.taps))
        guard own > 0, foreign > 0 else { return first.taps }
        let kept = Float((1 - share * share).squareRoot())
        let taken = Float(share * (own / foreign).squareRoot())
        return first.taps.indices.map { index in
            index < early ? first.taps[index] : kept * first.taps[index] + taken * other.taps[index]
        }
    }
}
