import Testing
import VoiceWire

@testable import VoicePlayout

/// A planner whose plans nobody carries out: no decoder, no sample.
private struct PlannerRig: ~Copyable {
    static let packetFrames = 960
    var planner: PlayoutPlanner
    private(set) var plans: [String] = []
    private(set) var pulled: Int64 = 0
    /// For how long nothing was pulled, frames.
    private var stood: Int64 = 0
    /// Whether the decoder takes what is planned.
    var isReal = true

    init(_ configuration: PlayoutConfiguration = .conversation) { planner = PlayoutPlanner(configuration) }

    mutating func insert(_ number: Int, redundancy: Bool = false, marker: Bool = false) -> InsertOutcome {
        // SILK, wideband, 20 ms (RFC 6716, table 2); the second bit of the frame's header says whether a copy is in it.
        let payload: [UInt8] = [9 << 3, redundancy ? 0x40 : 0x00] + [UInt8](repeating: 1, count: 20)
        let header = RTPHeader(
            payloadType: 111, marker: marker, sequenceNumber: UInt16(number),
            timestamp: UInt32(number * Self.packetFrames), synchronizationSource: 1)
        return planner.insert(payload.span, header: header, generation: nil, now: now)
    }

    private var now: Duration { .nanoseconds((pulled + stood) * 1_000_000 / 48) }

    mutating func standStill(_ frames: Int) {
        stood += Int64(frames)
        planner.playbackStoodStill(frames)
    }

    /// Pulls one packet's time, and takes it that the sound maker did what was planned, as far as the decoder took it.
    mutating func pull() {
        planner.willPull(Self.packetFrames, now: now)
        var filled = 0
        while filled < Self.packetFrames {
            let moment = Moment(time: pulled + Int64(filled), pull: pulled)
            switch planner.plan(at: moment, needed: Self.packetFrames - filled) {
            case .bridge(let bridge):
                plans.append(bridge.isPause ? "pause" : "bridge")
                filled += bridge.frames
            case .play(let plan):
                switch plan.source {
                case .packet(let packet): plans.append("packet \(packet.sequence)")
                case .redundancy(let carrier, _): plans.append("redundancy of \(carrier)")
                case .concealment(_, let lead): plans.append("conceal, lead to \(lead?.packet ?? -1)")
                }
                let frames = plan.frames - plan.skipped
                let sound = MadeSound(frames: frames, isReal: isReal, refusedPackets: isReal ? 0 : 1)
                planner.record(sound, of: plan)
                filled += frames
            }
        }
        planner.didPull(Self.packetFrames)
        pulled += Int64(Self.packetFrames)
    }
}

@Suite("What the playout planner decides, without any sound")
struct PlayoutPlannerTests {
    @Test(
        "a lost packet is planned from the next one's redundancy, or concealed and led over to it",
        arguments: [true, false])
    func lost(hasRedundancy: Bool) {
        var rig = PlannerRig()
        // Given packets that wait, of which one is missing
        for number in [0, 1, 2, 4, 5] { _ = rig.insert(number, redundancy: hasRedundancy) }
        // When they are played
        for _ in 0..<8 { rig.pull() }
        // Then only the missing one's time comes from elsewhere
        let missing = hasRedundancy ? "redundancy of 4" : "conceal, lead to 4"
        let heard = rig.plans.filter { $0 != "pause" && $0 != "bridge" }
        #expect(heard == ["packet 0", "packet 1", "packet 2", missing, "packet 4", "packet 5"])
        #expect(rig.planner.statistics.decodedSamples == (hasRedundancy ? 6 : 5) * 960)
    }

    @Test("a loudspeaker that stands still in the silence before a talkspurt makes that silence no shorter")
    func standstill() {
        // Given a sender that counts only what it sends, and 600 ms of silence, for 400 of which nothing was pulled
        var rig = PlannerRig()
        for number in 0..<50 {
            _ = rig.insert(number)
            rig.pull()
        }
        for _ in 0..<10 { rig.pull() }
        rig.standStill(19_200)
        // When the talkspurt comes
        #expect(rig.insert(50, marker: true) == .stored)
        // Then it is taken as behind the silence, and the silence for no delay
        let position = rig.planner.timeline.newest.position
        #expect(position >= 50 * 960 + 28_000, "\(position)")
    }

    @Test("what waits while the loudspeaker stands still has waited for as long, as the statistics have it")
    func waited() {
        // Given packets that come in time, and the last of them wait
        var rig = PlannerRig()
        for number in 0..<50 {
            _ = rig.insert(number)
            rig.pull()
        }
        _ = rig.insert(50)
        let before = rig.planner.statistics
        // When the loudspeaker stands still for 100 ms
        rig.standStill(4_800)
        for _ in 0..<2 { rig.pull() }
        // Then each of those was held for so long
        let after = rig.planner.statistics
        let frames = after.jitterBufferEmittedCount - before.jitterBufferEmittedCount
        #expect(frames >= 960)
        #expect(after.jitterBufferDelay - before.jitterBufferDelay > 0.099 * Double(frames))
    }

    @Test("what the decoder refuses is counted as concealed, and the plans are the same")
    func refused() {
        var taken = PlannerRig()
        var refused = PlannerRig()
        refused.isReal = false
        for number in 0..<3 {
            #expect(taken.insert(number) == .stored)
            #expect(refused.insert(number) == .stored)
        }
        for _ in 0..<5 {
            taken.pull()
            refused.pull()
        }
        #expect(taken.plans.contains("packet 2"))
        #expect(taken.plans == refused.plans)
        #expect(taken.planner.statistics.packetsMalformed == 0)
        #expect(refused.planner.statistics.packetsMalformed == 3)
        #expect(refused.planner.statistics.decodedSamples == 0)
        let concealed = refused.planner.statistics.concealedSamples - taken.planner.statistics.concealedSamples
        #expect(concealed == taken.planner.statistics.decodedSamples)
    }

    @Test("what the decoder takes unheard is bounded, whatever was missed")
    func catchUp() {
        var rig = PlannerRig(.conversation)
        for number in 0..<3 { _ = rig.insert(number) }
        for _ in 0..<4 { rig.pull() }
        // Given a stall of two seconds, after which every other packet comes at once
        for _ in 0..<100 { rig.pull() }
        for number in stride(from: 4, to: 104, by: 2) { _ = rig.insert(number, redundancy: true) }
        // When one of them is planned
        var catchUps: [Int] = []
        for _ in 0..<10 {
            rig.planner.willPull(960, now: .seconds(10))
            if case .play(let plan) = rig.planner.plan(at: Moment(time: rig.pulled, pull: rig.pulled), needed: 960) {
                catchUps.append(plan.catchUp.count)
                rig.planner.record(MadeSound(frames: plan.frames), of: plan)
            }
            rig.planner.didPull(960)
        }
        // Then something is caught up with, and no more than there is room for
        #expect(catchUps.contains { $0 > 0 })
        #expect(catchUps.allSatisfy { $0 <= CatchUp.capacity })
    }
}
