import CLinuxRealtime
import Testing

@testable import VoiceTransport

/// Changes the whole process.
@Suite("What others see of a process's memory", .serialized)
struct ProcessMemoryLiveTests {
    @Test("none of it once it is hidden")
    func hidden() {
        defer { _ = dv_process_set_dumpable(1) }
        #expect(dv_process_is_dumpable() == 1)
        #expect(ProcessMemory.hide())
        #expect(dv_process_is_dumpable() == 0)
    }
}
