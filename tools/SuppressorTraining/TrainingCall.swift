import Glibc
import VoiceSimulation

/// A call of 16 s that is drawn at random: who talks when, through which devices, in which room. 16 kHz, all of one
/// length.
///
/// Everything is drawn wider than calls are, so that a real one lies within.
struct TrainingCall {
    static let frames = 16 * 48_000

    private(set) var far: [Float] = []
    private(set) var microphone: [Float] = []
    /// The talkers in the microphone, and what else is in it and is no echo.
    private(set) var talk: [Float] = []
    private(set) var noise: [Float] = []
    /// Frames from the far end to its echo, as somebody says they are; 0: nobody does.
    let hint: Int

    /// - Parameter devices: whether three calls of four are through a ``DeviceSound``.
    init(seed: UInt64, voices: Voices, devices: Bool = false) throws {
        var draw = SeededGenerator(seed: seed, stream: "training call")
        let farDecibels = draw.uniform(in: -36 ... -17)
        let isDevice = devices && draw.chance(0.75)
        var conditions = Self.conditions(farDecibels, &draw)
        let echoDecibels = farDecibels - conditions.echoReturnLossDecibels
        if isDevice { conditions.noise = Self.noise(beside: echoDecibels, &draw) }
        let nearDecibels =
            conditions.echoPath == nil
            ? draw.uniform(in: -45 ... -20) : min(-14, max(-52, echoDecibels + draw.uniform(in: -14...20)))
        let error = draw.chance(0.7) ? draw.uniform(in: -0.008...0.008) : draw.uniform(in: -0.2...0.2)
        hint = draw.chance(0.15) ? max(0, conditions.bulkDelayFrames / 3 + Int(16_000 * error)) : 0
        let cast = Cast(&draw)
        var spoken = Self.farSound(farDecibels, voices, cast, oddities: cast == .odd ? 0.9 : 0.06, &draw)
        if isDevice, draw.chance(0.6) {
            // What is played comes from a room too, and its noise is never silent.
            Self.add(Self.hiss(farDecibels - draw.uniform(in: 12...45), &draw), to: &spoken)
        }
        var talk = Self.nearSound(nearDecibels, voices, cast, oddities: cast == .odd ? 0.9 : 0.15, &draw)
        if isDevice, draw.chance(0.6) { talk = Self.reverberant(talk, &draw) }
        if isDevice, draw.chance(0.8) { Self.colour(&talk, &draw) }
        if isDevice, draw.chance(0.8) { Self.colour(&spoken, &draw) }
        let played = draw.chance(0.1) ? try CodecPassage.decoded(spoken) : spoken
        try render(seed, conditions, played: played, spoken: spoken, talk: talk, &draw)
        if isDevice, draw.chance(0.75) { addRumble(&draw) }
        if isDevice { pass(through: DeviceSound(&draw), &draw) }
    }

    // Who talks.

    /// Who is in a call. Now and then both ends are synthetic, or nothing sounds like a voice: a near end is to be
    /// known by how it goes with the echo, and not by being of another kind.
    private enum Cast {
        case usual, synthetic, odd

        init(_ draw: inout SeededGenerator) {
            let kind = draw.uniform()
            self = kind < 0.7 ? .usual : kind < 0.86 ? .synthetic : .odd
        }

        /// Probability of a synthetic voice.
        var synthetic: Double { self == .synthetic ? 1 : 0.08 }
    }

    private static func farSound(
        _ decibels: Double, _ voices: Voices, _ cast: Cast, oddities: Double, _ draw: inout SeededGenerator
    ) -> [Float] {
        if draw.chance(0.06) {
            return SyntheticMusic.samples(frames: frames, seed: draw.next(), levelDecibels: decibels)
        }
        var sound = self.sound(decibels, voices, cast, oddities: oddities, &draw)
        pause(&sound, begin: draw.uniform(in: 0...1.5), talk: 3...14, silence: 0.2...3, &draw)
        return sound
    }

    private static func nearSound(
        _ decibels: Double, _ voices: Voices, _ cast: Cast, oddities: Double, _ draw: inout SeededGenerator
    ) -> [Float] {
        var sound = [Float](repeating: 0, count: frames)
        if draw.chance(0.8) {
            sound = self.sound(decibels, voices, cast, oddities: oddities, &draw)
            pause(&sound, begin: draw.uniform(in: -2...9), talk: 1...7, silence: 0.5...6, &draw)
        }
        if draw.chance(0.08) {
            add(
                voices.talk(
                    frames: frames, decibels: decibels - draw.uniform(in: 0...15), synthetic: cast.synthetic, &draw),
                to: &sound)
        }
        if draw.chance(0.08) {
            // Six voices, each weaker by the square root of six.
            let level = decibels - draw.uniform(in: 4...20) - 7.8
            for _ in 0..<6 {
                add(voices.talk(frames: frames, decibels: level, synthetic: cast.synthetic, &draw), to: &sound)
            }
        }
        return sound
    }

    /// Somebody, or with a probability of `oddities` something, music or ``OddSounds``.
    private static func sound(
        _ decibels: Double, _ voices: Voices, _ cast: Cast, oddities: Double, _ draw: inout SeededGenerator
    ) -> [Float] {
        guard draw.chance(oddities) else {
            return voices.talk(frames: frames, decibels: decibels, synthetic: cast.synthetic, &draw)
        }
        if draw.chance(0.25) {
            return SyntheticMusic.samples(frames: frames, seed: draw.next(), levelDecibels: decibels)
        }
        return OddSounds.samples(frames: frames, decibels: decibels, &draw)
    }

    private static func add(_ other: [Float], to sound: inout [Float]) {
        for index in sound.indices { sound[index] += other[index] }
    }

    /// Puts pauses into talk; all in seconds.
    private static func pause(
        _ sound: inout [Float], begin: Double, talk: ClosedRange<Double>, silence: ClosedRange<Double>,
        _ draw: inout SeededGenerator
    ) {
        var isTalking = false
        var next = begin
        var gain: Float = 0
        for index in sound.indices {
            while Double(index) / 48_000 >= next {
                isTalking.toggle()
                next += draw.uniform(in: isTalking ? talk : silence)
            }
            gain += ((isTalking ? 1 : 0) - gain) / 480
            sound[index] *= gain
        }
    }

    /// A talk as a microphone across a room hears it: itself, and a tail of noise that dies away.
    private static func reverberant(_ talk: [Float], _ draw: inout SeededGenerator) -> [Float] {
        let decay = 6.9 / (48_000 * draw.uniform(in: 0.1...0.6))
        let (first, level) = (Int(draw.uniform(in: 60...500)), pow(10, draw.uniform(in: -18...0) / 20))
        var taps = [Float](repeating: 0, count: Int(5 / decay))
        let power = (1 - exp(-2 * decay)).squareRoot()
        for index in first..<taps.count {
            taps[index] = Float(level * power * exp(-decay * Double(index - first)) * draw.gaussian())
        }
        taps[0] = 1
        var convolver = PartitionedConvolver(impulseResponse: taps.span)
        var heard = talk
        var span = heard.mutableSpan
        convolver.process(talk.span, into: &span)
        return heard
    }

    /// A talk as another microphone hears it, or another throat makes it: its bass and its treble up or down, as loud as
    /// before.
    private static func colour(_ sound: inout [Float], _ draw: inout SeededGenerator) {
        func weight(_ hertz: ClosedRange<Double>) -> Float {
            Float(1 - exp(-2 * .pi * exp(draw.uniform(in: log(hertz.lowerBound)...log(hertz.upperBound))) / 48_000))
        }
        let (low, high) = (weight(200...600), weight(1_200...5_000))
        let bass = Float(pow(10, draw.uniform(in: -8...9) / 20))
        let treble = Float(pow(10, draw.uniform(in: -6...12) / 20))
        var (lows, middles, before, after): (Float, Float, Float, Float) = (0, 0, 1e-9, 1e-9)
        for index in sound.indices {
            let value = sound[index]
            lows += low * (value - lows)
            middles += high * (value - middles)
            let made = bass * lows + (middles - lows) + treble * (value - middles)
            before += value * value
            after += made * made
            sound[index] = made
        }
        let gain = (before / after).squareRoot()
        for index in sound.indices { sound[index] *= gain }
    }

    /// A far room's noise, between white and the low rumble of a fan.
    private static func hiss(_ decibels: Double, _ draw: inout SeededGenerator) -> [Float] {
        let pole = draw.uniform(in: 0...0.97)
        let gain = pow(10, decibels / 20) * ((1 + pole) / (1 - pole)).squareRoot()
        var low = 0.0
        return (0..<frames).map { _ in
            low += (1 - pole) * (draw.gaussian() - low)
            return Float(gain * low)
        }
    }

    // Through what.

    /// The room's noise where devices are: the echo is seldom far above it.
    private static func noise(beside echoDecibels: Double, _ draw: inout SeededGenerator) -> AmbientNoise {
        let colours = AmbientNoise.Colour.allCases
        let level = min(-38, max(-85, echoDecibels - draw.uniform(in: 1...36)))
        return AmbientNoise(colours[Int(draw.uniform() * Double(colours.count))], levelDecibels: level)
    }

    private static func conditions(_ farDecibels: Double, _ draw: inout SeededGenerator) -> RoomConditions {
        var conditions = RoomConditions()
        let isHeadset = draw.chance(0.04)
        if !isHeadset { conditions.echoPath = room(&draw) }
        conditions.responseLength = .milliseconds(Int(draw.uniform(in: 150...700)))
        conditions.echoReturnLossDecibels = draw.uniform(in: -6...26)
        conditions.bulkDelayFrames = Int(draw.uniform(in: 400...(draw.chance(0.2) ? 20_000 : 6_000)))
        if draw.chance(0.15) { conditions.loudspeakerClockPPM = draw.uniform(in: -150...150) }
        conditions.loudspeaker = loudspeaker(farDecibels, &draw)
        if draw.chance(0.12) {
            conditions.playbackCompressor = Compressor(
                thresholdDecibels: farDecibels - draw.uniform(in: 0...14), ratio: draw.uniform(in: 2...8))
        }
        if let room = conditions.echoPath { move(&conditions, in: room, &draw) }
        if draw.chance(0.9) {
            let level = draw.chance(0.25) ? draw.uniform(in: -60 ... -42) : draw.uniform(in: -85 ... -60)
            let colours = AmbientNoise.Colour.allCases
            conditions.noise = AmbientNoise(colours[Int(draw.uniform() * 3)], levelDecibels: level)
        }
        return conditions
    }

    private static func room(_ draw: inout SeededGenerator) -> ShoeboxRoom {
        let size = SIMD3<Double>(draw.uniform(in: 2.2...8), draw.uniform(in: 2...6), draw.uniform(in: 2.2...3.5))
        let microphone = SIMD3<Double>(
            draw.uniform(in: 0.6...size.x - 0.6), draw.uniform(in: 0.6...size.y - 0.6),
            draw.uniform(in: 0.6...min(1.6, size.z - 0.4)))
        let reverberation = draw.chance(0.2) ? draw.uniform(in: 0.6...1.0) : draw.uniform(in: 0.12...0.6)
        while true {
            let direction = SIMD3<Double>(draw.gaussian(), draw.gaussian(), 0.5 * draw.gaussian())
            let distance = max(0.03, draw.logNormal(median: 0.35, spread: 0.7))
            let room = ShoeboxRoom(
                size: size,
                loudspeaker: microphone + direction * (distance / (direction * direction).sum().squareRoot()),
                microphone: microphone, reverberationTime: .milliseconds(Int(1_000 * reverberation)))
            if isInside(room.loudspeaker, room) { return room }
        }
    }

    private static func isInside(_ place: SIMD3<Double>, _ room: ShoeboxRoom) -> Bool {
        (0..<3).allSatisfy { place[$0] > 0.1 && place[$0] < room.size[$0] - 0.1 }
    }

    /// What a loudspeaker can do, relative to what it is given.
    private static func loudspeaker(_ decibels: Double, _ draw: inout SeededGenerator) -> Loudspeaker {
        let amplitude = pow(10, decibels / 20)
        let kind = draw.uniform()
        if kind < 0.2 { return .linear }
        var loudspeaker = Loudspeaker(lowestHertz: draw.uniform(in: 80...450))
        if kind < 0.55 {
            // From hardly anything to a tanh whose bend a loud vowel is well beyond.
            loudspeaker.saturation = Float(exp(draw.uniform(in: log(0.0025)...log(0.15))) / amplitude)
            loudspeaker.secondHarmonic = Float(min(0.8, draw.uniform(in: 0...0.02) / amplitude))
        } else if kind < 0.9 {
            let drive = exp(draw.uniform(in: log(0.3)...log(2.2)))
            var cone = LoudspeakerCone(ratedAmplitude: min(90, max(0.002, 1.1 * amplitude / drive)))
            if draw.chance(0.3) {
                cone.rattle = Rattle(
                    excursion: draw.uniform(in: 0.25...0.7), level: draw.uniform(in: 0.005...0.05) * amplitude)
            }
            loudspeaker.cone = cone
        }
        if draw.chance(0.12) {
            loudspeaker.amplifierCeiling = Float(max(0.001, amplitude * draw.uniform(in: 1.2...3.5)))
        }
        return loudspeaker
    }

    private static func move(_ conditions: inout RoomConditions, in room: ShoeboxRoom, _ draw: inout SeededGenerator) {
        let kind = draw.uniform()
        if kind < 0.1 {
            conditions.movement = .walker(
                share: draw.uniform(in: 0.3...0.8), step: .milliseconds(Int(draw.uniform(in: 600...2_500))))
        } else if kind < 0.18 {
            let reach = SIMD3<Double>(
                draw.uniform(in: -0.08...0.08), draw.uniform(in: -0.08...0.08), draw.uniform(in: -0.04...0.04))
            conditions.movement = .microphone(reach: reach, step: .milliseconds(Int(draw.uniform(in: 400...2_000))))
        } else if kind < 0.26 {
            conditions.delaySwing = DelaySwing(
                frames: draw.uniform(in: 2...20), period: .milliseconds(Int(draw.uniform(in: 2_000...7_000))))
        }
    }

    private mutating func render(
        _ seed: UInt64, _ conditions: RoomConditions, played: [Float], spoken: [Float], talk: [Float],
        _ draw: inout SeededGenerator
    ) throws {
        var room = try RoomAcoustics(conditions, seed: seed)
        var path = try CapturePath(automaticGain: draw.chance(0.1) ? AutomaticGain() : nil)
        let jumps = draw.chance(0.06)
        let hand = draw.chance(0.05) ? Int(Double(Self.frames) * draw.uniform(in: 0.2...0.8)) : Self.frames
        let handEnds = hand + Int(48_000 * draw.uniform(in: 0.5...3))
        let made = RoomRecording(in: &room, through: &path, played: played, near: talk, talk: talk) {
            start, room, path in
            if jumps, start % 144_000 == 96_000 { room.bulkDelayFrames += Int(draw.uniform(in: -900...1_400)) }
            path.isCovered = start >= hand && start < handEnds
        }
        microphone = ThirdRate.convert(made.microphone)
        self.talk = ThirdRate.convert(made.talk)
        let near = zip(microphone, ThirdRate.convert(made.echo)).map { $0 - $1 }
        noise = zip(near, self.talk).map { $0 - $1 }
        far = ThirdRate.convert(spoken)
    }

    private mutating func addRumble(_ draw: inout SeededGenerator) {
        func level(_ sound: some Collection<Float>) -> Double {
            10 * log10(sound.reduce(1e-9) { $0 + Double($1) * Double($1) } / Double(sound.count))
        }
        let echo = zip(microphone, zip(talk, noise)).map { $0 - $1.0 - $1.1 }
        let rumble = Rumble(beside: max(level(talk), level(echo)), &draw).samples(count: noise.count, &draw)
        for index in noise.indices {
            noise[index] += rumble[index]
            microphone[index] += rumble[index]
        }
    }

    private mutating func pass(through device: DeviceSound, _ draw: inout SeededGenerator) {
        var echo = device.echo(microphone.indices.map { microphone[$0] - talk[$0] - noise[$0] }, &draw)
        if let gains = device.gateGain(echo: echo) {
            for index in gains.indices {
                talk[index] *= gains[index]
                noise[index] *= gains[index]
                echo[index] *= gains[index]
            }
        }
        microphone = echo.indices.map { min(1, max(-1, echo[$0] + talk[$0] + noise[$0])) }
    }
}

/// From 48 to 16 kHz, by a windowed sinc of 193 taps.
private enum ThirdRate {
    private static let half = 96
    /// Cut-off, of half the sample rate.
    private static let cutoff = 0.32
    private static let taps: [Float] = {
        let taps = (-half...half).map { index -> Double in
            let angle = Double.pi * cutoff * Double(index)
            return (index == 0 ? 1 : sin(angle) / angle)
                * (0.5 + 0.5 * cos(Double.pi * Double(index) / Double(half + 1)))
        }
        let sum = taps.reduce(0, +)
        return taps.map { Float($0 / sum) }
    }()

    static func convert(_ sound: [Float]) -> [Float] {
        let frames = (sound.count + 2) / 3
        var made = [Float](repeating: 0, count: frames)
        // Every third sample, from each of the first three on: for each tap a run of neighbours.
        let past = [Float](repeating: 0, count: 2 * half)
        let line = past + sound + [Float](repeating: 0, count: 2)
        for phase in 0..<3 {
            let part = stride(from: phase, to: line.count, by: 3).map { line[$0] }
            for (shift, tap) in stride(from: phase, to: taps.count, by: 3).enumerated() {
                for index in 0..<frames { made[index] += taps[tap] * part[index + shift] }
            }
        }
        return made
    }
}
