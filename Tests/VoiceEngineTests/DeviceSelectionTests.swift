import Testing
import VoiceRealtime
import VoiceSimulation

@testable import VoiceEngine

@Suite("Other devices are selected while a call runs, in virtual time")
struct DeviceSelectionTests {
    private static let (headset, desk, speakers) = ("hw:CARD=Headset", "hw:CARD=Desk", "hw:CARD=Speakers")

    private func card(_ change: (inout CardBench.Card) -> Void = { _ in }) -> CardBench.Card {
        var card = CardBench.Card()
        change(&card)
        return card
    }

    /// A call that has run for 2 s over a headset, beside two other cards.
    private func headsetCall(_ policy: RoutePolicy? = nil) throws -> RouteRig {
        let cards = [
            Self.headset: card(), Self.desk: card { $0.periodFrames = 480 },
            Self.speakers: card { $0.hasTalker = false },
        ]
        let rig = try RouteRig(cards, .alsa(ALSADeviceConfiguration(Self.headset)), policy: policy)
        rig.run(.seconds(2))
        return rig
    }

    @Test("both directions go over to another card: nothing is told as lost, packets go on, and both are heard")
    func both() throws {
        let rig = try headsetCall()
        let sent = rig.packetsSent
        try rig.select(capture: Self.desk, playback: Self.desk)
        let events = rig.takeRouteEvents()
        guard case .changed(let route, .selected, [.capture, .playback])? = events.first, events.count == 1 else {
            Issue.record("\(events)")
            return
        }
        #expect(route.capture?.name == Self.desk && route.playback?.name == Self.desk)
        #expect(route.playback?.format?.active.periodFrames == 480)
        #expect(rig.core.route == route)
        rig.run(.seconds(2))
        #expect(abs(rig.packetsSent - sent - 100) <= 4)
        #expect(rig.hearsTalker())
        let underruns = rig.core.counters.counts.playback.underrunFrames
        let emitted = rig.playout.jitterBufferEmittedCount
        rig.run(.seconds(2))
        #expect(rig.core.counters.counts.playback.underrunFrames == underruns)
        #expect(rig.playout.jitterBufferEmittedCount > emitted + 90_000)
        // And the new card is the one that is waited for
        rig.bench.unplug(Self.desk)
        rig.run(.seconds(1))
        rig.bench.plug(Self.desk)
        rig.core.noteArrival()
        rig.run(.milliseconds(20))
        guard case .changed(let back, .reopened, _)? = rig.takeRouteEvents().last else {
            Issue.record("it was not opened again")
            return
        }
        #expect(back.playback?.name == Self.desk)
    }

    @Test("one direction goes over; where the other had a card of its own it is not disturbed")
    func one() throws {
        let rig = try headsetCall()
        // When the loudspeaker goes from a card of both to another, then the microphone stays where it was, opened anew
        try rig.select(playback: Self.speakers)
        #expect(rig.core.route.capture?.name == Self.headset && rig.core.route.playback?.name == Self.speakers)
        #expect(rig.bench[Self.headset].openings == 2)
        rig.run(.seconds(1))
        #expect(rig.hearsTalker())
        // When it goes on to a third, then the microphone runs through
        let frames = rig.core.counters.counts.capture.frames
        try rig.select(playback: Self.desk)
        rig.run(.seconds(1))
        #expect(rig.bench[Self.headset].openings == 2)
        #expect(abs(rig.core.counters.counts.capture.frames - frames - 48_000) <= 480)
        guard case .changed(_, .selected, [.playback])? = rig.takeRouteEvents().last else {
            Issue.record("the change was not told")
            return
        }
        // When both are the headset again, then it is one card, opened once
        try rig.select(capture: Self.headset, playback: Self.headset)
        #expect(rig.bench[Self.headset].openings == 3)
        rig.run(.seconds(1))
        #expect(rig.hearsTalker())
    }

    @Test("what is selected already is left alone")
    func same() throws {
        let rig = try headsetCall()
        try rig.select(capture: Self.headset, playback: Self.headset)
        try rig.select()
        #expect(rig.takeRouteEvents().isEmpty)
        #expect(rig.bench[Self.headset].openings == 1)
    }

    @Test("a card that is not there disturbs nothing")
    func missing() throws {
        let rig = try headsetCall()
        #expect(throws: DeviceError.disconnected(name: "hw:CARD=Gone")) { try rig.select(playback: "hw:CARD=Gone") }
        #expect(rig.takeRouteEvents().isEmpty)
        #expect(rig.bench[Self.headset].openings == 1)
        let underruns = rig.core.counters.counts.playback.underrunFrames
        rig.run(.seconds(1))
        #expect(rig.core.counters.counts.playback.underrunFrames == underruns)
    }

    @Test("where a card fails only when it is opened, the old one runs again")
    func failing() throws {
        let rig = try headsetCall()
        rig.bench[Self.desk].periodFrames = 16_000
        #expect(throws: DeviceError.self) { try rig.select(capture: Self.desk, playback: Self.desk) }
        guard case .changed(let route, .reopened, _)? = rig.takeRouteEvents().last else {
            Issue.record("the old one does not run")
            return
        }
        #expect(route.capture?.name == Self.headset && route.playback?.format != nil)
        rig.run(.seconds(1))
        #expect(rig.hearsTalker())
        // And where the old one is gone by then, it is waited for as a lost one is
        rig.bench[Self.headset].isPlugged = false
        #expect(throws: DeviceError.self) { try rig.select(capture: Self.desk, playback: Self.desk) }
        guard case .lost? = rig.takeRouteEvents().last else {
            Issue.record("the loss was not told")
            return
        }
        let frames = rig.core.counters.counts.capture.frames
        rig.run(.seconds(1))
        #expect(abs(rig.core.counters.counts.capture.frames - frames - 48_000) <= 480, "somebody keeps the pace")
        rig.bench.plug(Self.headset)
        rig.run(.milliseconds(2_050))
        #expect(rig.core.route.playback?.format != nil)
        #expect(rig.hearsTalker())
    }

    @Test("what an old card says late is not taken for the new one's")
    func late() throws {
        let rig = try headsetCall()
        // Given news of the headset's loss that nobody has looked at
        rig.bench.unplug(Self.headset)
        try rig.select(capture: Self.desk, playback: Self.desk)
        _ = rig.takeRouteEvents()
        rig.run(.seconds(1))
        #expect(rig.takeRouteEvents().isEmpty)
        #expect(rig.hearsTalker())
    }

    @Test(
        "a direction that the engine was started without cannot be selected, and both of a client's device only together"
    )
    func impossible() throws {
        let rig = try RouteRig(
            [Self.desk: card()], .alsa(ALSADeviceConfiguration(capture: Self.desk, playback: nil)))
        rig.run(.seconds(1))
        #expect(throws: DeviceError.self) { try rig.select(playback: Self.desk) }
        #expect(rig.takeRouteEvents().isEmpty)
        let own = DeviceChoice.custom(
            try NullDevice(
                air: SilentAir(),
                configuration: SimulatedDeviceConfiguration(pacing: .virtual(start: MonotonicTime(nanoseconds: 0)))))
        #expect(throws: DeviceError.self) {
            try DeviceSelection(capture: nil, playback: Self.desk).applied(to: own)
        }
        guard case .alsa(let card) = try DeviceSelection(capture: "a", playback: "b").applied(to: own) else {
            Issue.record("both were named")
            return
        }
        #expect(card.captureName == "a" && card.playbackName == "b")
    }
}
