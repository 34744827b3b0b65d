import Testing

@testable import VoiceDevices

@Suite("What a device keeps of its session")
struct SessionSlotTests {
    @Test("One that is stopped while it starts does not run, and can be started again")
    func stoppedWhileStarting() throws {
        let slot = SessionSlot<Int>()
        try slot.begin()
        #expect(refusal(of: slot) == .alreadyRunning)
        // As a handler of events does.
        #expect(slot.take() == nil)
        #expect(!slot.fill(1))
        #expect(slot.running == nil)
        try slot.begin()
        #expect(slot.fill(2))
        #expect(slot.running == 2)
    }

    @Test("One that runs is taken out once; a start that failed leaves nothing")
    func stopped() throws {
        let slot = SessionSlot<Int>()
        #expect(slot.take() == nil)
        try slot.begin()
        slot.giveUp()
        try slot.begin()
        #expect(slot.fill(1))
        #expect(refusal(of: slot) == .alreadyRunning)
        #expect(slot.take() == 1)
        #expect(slot.take() == nil && slot.running == nil)
    }

    private func refusal(of slot: SessionSlot<Int>) -> DeviceError? {
        do throws(DeviceError) { try slot.begin() } catch { return error }
        return nil
    }
}
