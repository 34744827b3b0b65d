import Testing
import VoiceDevices
import VoicePlayout
import VoiceRealtime
import VoiceRooms
import VoiceWire

@testable import VoiceEngine

/// The table of a room's talkers, with packets made by hand.
@Suite("The table of talkers")
struct StreamTableTests {
    /// A table in simulated time.
    private final class Room {
        private var table: StreamTable
        private(set) var now: Duration = .seconds(100)
        private var ticks = 0
        /// What each source has sent so far.
        private var sequences: [UInt32: UInt16] = [:]

        init(slots: Int) throws { table = try StreamTable(count: slots, configuration: .conversation) }

        /// One packet of each of `sources` every 20 ms, for a while; one in `share` is lost. Returns what is told.
        func run(
            for duration: Duration, _ sources: [UInt32],
            level: AudioLevel? = AudioLevel(voiceActivity: true, level: 20), reporting: [UInt32] = [],
            losing share: Int = 0, generation: UInt8? = nil
        ) throws -> [String] {
            var told: [String] = []
            let end = now + duration
            while now < end {
                now += .milliseconds(20)
                ticks += 1
                for source in sources {
                    sequences[source, default: 0] &+= 1
                    if share == 0 || ticks % share != 0 { try insert(source, level, generation) }
                }
                if ticks % 50 == 0 { for source in reporting { table.heardReport(of: source, arrival: now) } }
                // Each is looked at several times in 20 ms, as the media thread does
                for _ in 0..<2 {
                    switch table.examine(now: now, reportInterval: .seconds(1)) {
                    case .streamCondition(let participant, let condition)?: told.append("\(participant) \(condition)")
                    case .tooManyStreams(let source)?: told.append("\(source) unheard")
                    default: break
                    }
                }
            }
            return told
        }

        /// The last packet but one of a source arrives after the last, with speech.
        func overtake(_ source: UInt32) throws {
            try insert(source, AudioLevel(voiceActivity: true, level: 20), nil, back: 1)
        }

        private func insert(
            _ source: UInt32, _ level: AudioLevel?, _ generation: UInt8?, back: UInt16 = 0
        ) throws {
            let sequence = sequences[source, default: 0] &- back
            let header = RTPHeader(
                payloadType: 111, marker: false, sequenceNumber: sequence, timestamp: UInt32(sequence) * 960,
                synchronizationSource: source)
            var bytes = [UInt8](repeating: 0, count: 40)
            var span = bytes.mutableSpan
            _ = try header.write(
                into: &span, audioLevel: level, audioLevelID: Uplink.audioLevelID,
                origin: generation.map { SpeechOrigin(generation: $0) }, originID: Uplink.originID)
            _ = table.insert(try RTPPacket(parsing: bytes.span), arrival: now)
        }

        func add(_ source: UInt32, of participant: UInt32 = 0, isMuted: Bool = false) -> Bool {
            table.add(source, of: participant, isMuted: isMuted)
        }

        func remove(_ source: UInt32) { table.remove(source) }

        func flush(_ generation: UInt32, of source: UInt32) { table.flush(generation: generation, of: source) }

        func leave() { table.departed.forget() }

        func setMuted(_ isMuted: Bool, of source: UInt32) { table.setMuted(isMuted, of: source) }

        func setVolume(_ gain: Float, of source: UInt32) { table.setVolume(gain, of: source) }

        var memberCount: Int { table.memberCount }

        /// A block of 10 ms.
        func mix() -> [Float] {
            var mix = [Float](repeating: 0, count: 480)
            var scratch = mix
            var mixSpan = mix.mutableSpan
            var scratchSpan = scratch.mutableSpan
            let rendered = ValueRing<RenderedSpan>(minimumCapacity: 1)
            let news = ValueRing<FarEndNews>(minimumCapacity: 1)
            var none = FarEndTable(rendered: rendered.consumer, news: news.producer, wake: nil)
            table.mix(
                into: &mixSpan, scratch: &scratchSpan, now: now, sinks: &none, at: MixMoment(ringFrame: 0, scale: 1))
            return mix
        }

        /// Plays 800 ms of a source's tone, as it comes; the largest sample of its second half.
        func playTone(of source: UInt32) throws -> Float {
            var packets = try TonePackets(source: source)
            var largest: Float = 0
            for packet in 0..<40 {
                let bytes = try packets.next()
                _ = table.insert(try RTPPacket(parsing: bytes.span), arrival: now)
                for _ in 0..<2 {
                    let block = mix()
                    if packet >= 20 { largest = block.reduce(largest) { max($0, abs($1)) } }
                    now += .milliseconds(10)
                }
            }
            return largest
        }

        var played: Set<UInt32> {
            let statistics = table.report()
            return Set((0..<statistics.count).map { statistics[$0].synchronizationSource })
        }
    }

    @Test("a slot is taken from who was silent for longest, and never from who spoke within a second")
    func slots() throws {
        let room = try Room(slots: 2)
        for source in [10, 20, 30, 40] as [UInt32] { #expect(room.add(source)) }
        #expect(room.played == [10, 20])
        // Given 20, who spoke last; when 30 speaks, then in the place of 10
        _ = try room.run(for: .seconds(2), [20])
        #expect(try room.run(for: .milliseconds(40), [30]).isEmpty)
        #expect(room.played == [20, 30])
        // When 40 speaks right after both, then it has to wait for a second, and that is told once
        #expect(try room.run(for: .milliseconds(900), [20, 40]) == ["40 unheard"])
        #expect(room.played == [20, 30])
        #expect(try room.run(for: .milliseconds(200), [20, 40]).isEmpty)
        #expect(room.played == [20, 40])
    }

    @Test("who has a slot gives it up in turn, also after another has gone whose place in the list it took")
    func moved() throws {
        let room = try Room(slots: 2)
        for source in [10, 20, 30, 40] as [UInt32] { #expect(room.add(source)) }
        // Given 20 and 40, the last to come, in the slots, and 10 gone
        _ = try room.run(for: .seconds(2), [20])
        _ = try room.run(for: .milliseconds(40), [40])
        #expect(room.played == [20, 40])
        room.remove(10)
        // When 30 speaks, then in the place of 20, who was silent for longer
        _ = try room.run(for: .seconds(2), [40])
        _ = try room.run(for: .milliseconds(40), [30])
        #expect(room.played == [30, 40])
        // When 50 speaks, then in that of 40
        #expect(room.add(50))
        _ = try room.run(for: .seconds(2), [30])
        _ = try room.run(for: .milliseconds(40), [50])
        #expect(room.played == [30, 50])
        // And whoever goes leaves a slot
        room.remove(30)
        _ = try room.run(for: .milliseconds(40), [20])
        #expect(room.played == [20, 50])
    }

    @Test("who sends several streams at once leaves slots to those who send one, and slots do not go back and forth")
    func shares() throws {
        // Given one participant who has all slots, and never falls silent
        let room = try Room(slots: 4)
        let many: [UInt32] = [10, 11, 12, 13]
        for source in many { #expect(room.add(source, of: 1)) }
        _ = try room.run(for: .seconds(1), many)
        #expect(room.played == Set(many))
        // When two others speak, then each is heard at once
        #expect(room.add(20, of: 2) && room.add(30, of: 3))
        _ = try room.run(for: .milliseconds(20), many + [20, 30])
        let played = room.played
        #expect(played.isSuperset(of: [20, 30]) && played.count == 4)
        // And stays so, also when one of them has another stream: there are as many for each
        #expect(room.add(21, of: 2))
        _ = try room.run(for: .seconds(5), many + [20, 21, 30])
        #expect(room.played == played)
        // When a fourth speaks, then the first is left one
        #expect(room.add(40, of: 4))
        _ = try room.run(for: .milliseconds(20), many + [20, 21, 30, 40])
        #expect(room.played.isSuperset(of: [20, 30, 40]))
        #expect(room.played.intersection(many).count == 1)
    }

    @Test("who says nothing takes no slot from anybody; who tells no level counts as speaking")
    func levels() throws {
        let quiet = AudioLevel(voiceActivity: false, level: StreamMember.audibleLevel + 1)
        let room = try Room(slots: 1)
        for source in [10, 20] as [UInt32] { #expect(room.add(source)) }
        _ = try room.run(for: .seconds(3), [20], level: quiet)
        _ = try room.run(for: .seconds(3), [20], level: AudioLevel(voiceActivity: true, level: 127))
        #expect(room.played == [10])
        // Music is no speech, but is heard
        _ = try room.run(for: .milliseconds(20), [20], level: AudioLevel(voiceActivity: false, level: 30))
        #expect(room.played == [20])
        _ = try room.run(for: .seconds(2), [10], level: quiet)
        _ = try room.run(for: .milliseconds(20), [10], level: nil)
        #expect(room.played == [10])
    }

    @Test("a volume holds also while its talker has no slot", arguments: [Float(0), 0.25])
    func volume(gain: Float) throws {
        func largest(_ gain: Float?) throws -> Float {
            let room = try Room(slots: 1)
            for source in [10, 20] as [UInt32] { #expect(room.add(source)) }
            #expect(room.played == [10])
            if let gain { room.setVolume(gain, of: 20) }
            let sounded = try room.playTone(of: 20)
            #expect(room.played == [20])
            return sounded
        }
        let full = try largest(nil)
        #expect(full > 0.1)
        #expect(abs(try largest(gain) - gain * full) <= 0.02 * gain * full)
    }

    @Test("a room of the largest size fits, and no more; who goes makes room")
    func largest() throws {
        let room = try Room(slots: 2)
        for participant in 1...UInt32(RoomProtocol.participantLimit) {
            for stream in 0..<UInt32(RoomProtocol.streamLimit) {
                #expect(room.add(participant * 4 + stream, of: participant))
            }
        }
        #expect(!room.add(9_999))
        #expect(room.add(7), "who is there is there")
        for source in stride(from: UInt32(4), through: 202, by: 2) { room.remove(source) }
        #expect(room.memberCount == StreamTable.maximumMembers - 100)
        #expect(room.add(9_999))
        _ = try room.run(for: .milliseconds(20), [9_999])
        #expect(room.played.contains(9_999))
    }

    @Test("a peer whose sound and reports stop is told within 2 s, and again when it is back")
    func unreachable() throws {
        let room = try Room(slots: 1)
        // Given two talkers, one of them without a slot, who report as well
        #expect(room.add(10, of: 1) && room.add(20, of: 2))
        #expect(try room.run(for: .seconds(5), [10, 20], reporting: [10, 20]) == ["20 unheard"])
        // When one is gone, then that is told after 2 s, and nothing else
        #expect(try room.run(for: .seconds(1.9), [10], reporting: [10]).isEmpty)
        #expect(try room.run(for: .seconds(0.2), [10], reporting: [10]) == ["2 unreachable"])
        #expect(try room.run(for: .seconds(20), [10], reporting: [10]).isEmpty)
        #expect(try room.run(for: .seconds(0.1), [10, 20], reporting: [10]) == ["2 reachable"])
        // And whoever has come and never sent anything is gone as well, within three reports of one second
        #expect(room.add(30, of: 3))
        #expect(try room.run(for: .seconds(3.6), [10, 20]).filter { $0.hasPrefix("3") }.isEmpty)
        #expect(try room.run(for: .seconds(0.2), [10, 20]).filter { $0.hasPrefix("3") } == ["3 unreachable"])
    }

    @Test("whose button was never pressed is there as long as it reports, and does not stand still")
    func neverPressed() throws {
        // Given a member of whom nothing has come but reports, two of which are lost
        let room = try Room(slots: 1)
        #expect(room.add(10, of: 1))
        #expect(try room.run(for: .seconds(10), [], reporting: [10]).isEmpty)
        #expect(try room.run(for: .seconds(2.5), []).isEmpty)
        #expect(try room.run(for: .seconds(10), [], reporting: [10]).isEmpty)
        // When it talks, then it is awaited from then on
        #expect(try room.run(for: .seconds(1), [10], reporting: [10]).isEmpty)
        #expect(try room.run(for: .seconds(2.1), [], reporting: [10]) == ["1 stalled"])
    }

    @Test("who is muted is there as long as it reports, also when two reports in a row are lost")
    func mutedPeer() throws {
        let room = try Room(slots: 2)
        #expect(room.add(10, of: 1, isMuted: true))
        #expect(try room.run(for: .seconds(10), [], reporting: [10]).isEmpty)
        #expect(try room.run(for: .seconds(2.9), []).isEmpty)
        #expect(try room.run(for: .seconds(10), [], reporting: [10]).isEmpty)
        #expect(try room.run(for: .seconds(5), []) == ["1 unreachable"])
        #expect(try room.run(for: .seconds(2), [], reporting: [10]) == ["1 reachable"])
        // When it unmutes, then its sound is awaited from then on
        room.setMuted(false, of: 10)
        #expect(try room.run(for: .seconds(1.9), [], reporting: [10]).isEmpty)
        #expect(try room.run(for: .seconds(0.2), [], reporting: [10]) == ["1 stalled"])
    }

    @Test("a stream that stands still while its talker is there and not muted is told")
    func stalled() throws {
        let room = try Room(slots: 2)
        #expect(room.add(10, of: 1))
        #expect(try room.run(for: .seconds(3), [10], reporting: [10]).isEmpty)
        #expect(try room.run(for: .seconds(2.1), [], reporting: [10]) == ["1 stalled"])
        #expect(try room.run(for: .seconds(1), [10], reporting: [10]) == ["1 flowing"])
        // And one that is muted has not stalled
        room.setMuted(true, of: 10)
        #expect(try room.run(for: .seconds(20), [], reporting: [10]).isEmpty)
    }

    @Test("a stream that ends in digital silence has come to rest, and stands still no more than one that never began")
    func rest() throws {
        let room = try Room(slots: 3)
        // Given a talker with music beside, of which nothing was played so far
        #expect(room.add(10, of: 1) && room.add(11, of: 1))
        #expect(try room.run(for: .seconds(5), [10], reporting: [10]).isEmpty)
        // When it is, and ends
        #expect(try room.run(for: .seconds(3), [10, 11], reporting: [10]).isEmpty)
        let silence = AudioLevel(voiceActivity: false, level: 127)
        #expect(try room.run(for: .milliseconds(60), [10, 11], level: silence, reporting: [10]).isEmpty)
        // Then nothing is told
        #expect(try room.run(for: .seconds(5), [10], reporting: [10]).isEmpty)
        // And nothing of a talker whose button is let go, while it reports
        #expect(try room.run(for: .milliseconds(20), [10], level: silence, reporting: [10]).isEmpty)
        #expect(try room.run(for: .seconds(20), [], reporting: [10]).isEmpty)
        // And of what stands still in the middle of a word, or of a silence that is sent, it is told as before
        #expect(try room.run(for: .seconds(1), [10], level: silence, reporting: [10]).isEmpty)
        #expect(try room.run(for: .seconds(2.1), [], reporting: [10]) == ["1 stalled"])
        #expect(try room.run(for: .seconds(1), [10, 11], reporting: [10]) == ["1 flowing"])
        #expect(try room.run(for: .milliseconds(60), [10], level: silence, reporting: [10]).isEmpty)
        #expect(try room.run(for: .seconds(2.1), [], reporting: [10]) == ["1 stalled"])
    }

    @Test("the silence at the end of a stream is known however its packets arrive")
    func lateRest() throws {
        let room = try Room(slots: 1)
        #expect(room.add(10, of: 1))
        #expect(try room.run(for: .seconds(3), [10], reporting: [10]).isEmpty)
        // When two packets of it come one long after the other, and the last of the speech behind them
        let silence = AudioLevel(voiceActivity: false, level: 127)
        for _ in 0..<2 {
            #expect(try room.run(for: .milliseconds(20), [10], level: silence, reporting: [10]).isEmpty)
            #expect(try room.run(for: .milliseconds(400), [], reporting: [10]).isEmpty)
        }
        try room.overtake(10)
        // Then it has come to rest
        #expect(try room.run(for: .seconds(20), [], reporting: [10]).isEmpty)
    }

    @Test("a stream that was interrupted is not awaited before something of another generation has come")
    func interrupted() throws {
        let room = try Room(slots: 1)
        #expect(room.add(10, of: 1))
        #expect(try room.run(for: .seconds(3), [10], reporting: [10], generation: 0).isEmpty)
        // When an agent is interrupted, of which something is still on its way, and has no more to say
        room.flush(1, of: 10)
        #expect(try room.run(for: .milliseconds(100), [10], reporting: [10], generation: 0).isEmpty)
        // Then it has not stalled, and is there as long as it reports
        #expect(try room.run(for: .seconds(20), [], reporting: [10]).isEmpty)
        // And what stands still of the next generation has
        #expect(try room.run(for: .seconds(1), [10], reporting: [10], generation: 1).isEmpty)
        #expect(try room.run(for: .seconds(2.1), [], reporting: [10]) == ["1 stalled"])
    }

    @Test("who breaks off in the middle of a word is gone after 2 s, also where a first stream is at rest")
    func goneBesideRest() throws {
        let room = try Room(slots: 2)
        // Given music that has ended, and a talker
        #expect(room.add(10, of: 1) && room.add(11, of: 1))
        #expect(try room.run(for: .seconds(3), [10, 11]).isEmpty)
        let silence = AudioLevel(voiceActivity: false, level: 127)
        #expect(try room.run(for: .milliseconds(60), [10], level: silence).isEmpty)
        #expect(try room.run(for: .seconds(1), [11]).isEmpty)
        // When nothing more comes
        #expect(try room.run(for: .seconds(2.1), []) == ["1 unreachable"])
    }

    @Test("a participant of two streams is there as long as one of them is")
    func twoStreams() throws {
        let room = try Room(slots: 2)
        #expect(room.add(10, of: 1) && room.add(11, of: 1, isMuted: true))
        #expect(try room.run(for: .seconds(6), [10]).isEmpty)
        #expect(try room.run(for: .seconds(2.1), []) == ["1 unreachable"])
        #expect(try room.run(for: .seconds(1), [11]) == ["1 reachable", "1 stalled"], "the other stream stands still")
    }

    @Test("what a stream told of its participant is taken back by the next one, or by another, and in no other room")
    func republished() throws {
        // Given a talker on a poor link who is gone
        let room = try Room(slots: 2)
        #expect(room.add(10, of: 1))
        #expect(try room.run(for: .seconds(6), [10], losing: 3) == ["1 poorLink"])
        #expect(try room.run(for: .seconds(2.1), []) == ["1 unreachable"])
        // When it comes back with another stream, on a good one
        room.remove(10)
        #expect(room.add(12, of: 1))
        // Then that is told
        #expect(try room.run(for: .seconds(6), [12]) == ["1 reachable", "1 goodLink"])
        // And where one of two stands still and is withdrawn
        #expect(room.add(13, of: 1))
        #expect(try room.run(for: .seconds(3), [12, 13]).isEmpty)
        #expect(try room.run(for: .seconds(2.1), [13]) == ["1 stalled"])
        room.remove(12)
        #expect(try room.run(for: .seconds(1), [13]) == ["1 flowing"])
        // And nothing of whoever has the number in the next room
        #expect(try room.run(for: .seconds(2.1), []) == ["1 unreachable"])
        room.remove(13)
        room.leave()
        #expect(room.add(14, of: 1))
        #expect(try room.run(for: .seconds(3), [14]).isEmpty)
    }

    @Test("a link that loses a tenth is poor, and good again when it loses little", arguments: [8, 5, 3])
    func link(share: Int) throws {
        let room = try Room(slots: 2)
        #expect(room.add(10, of: 1))
        #expect(try room.run(for: .seconds(10), [10], losing: 50).isEmpty)
        #expect(try room.run(for: .seconds(6), [10], losing: share) == ["1 poorLink"])
        // Between the two thresholds it stays what it was
        #expect(try room.run(for: .seconds(10), [10], losing: 20).isEmpty)
        #expect(try room.run(for: .seconds(6), [10]) == ["1 goodLink"])
        #expect(try room.run(for: .seconds(10), [10], losing: 20).isEmpty)
    }
}
