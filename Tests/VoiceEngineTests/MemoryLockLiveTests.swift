import Glibc
import Testing
import VoiceEngine

extension EngineLiveTests {
    @Suite("leaves its host's memory alone", .serialized)
    struct MemoryLockTests {
        /// Memory of this process that is locked (proc(5)), KiB; -1 where the system does not tell.
        private func lockedKibibytes() -> Int {
            guard let file = unsafe fopen("/proc/self/status", "r") else { return -1 }
            defer { unsafe fclose(file) }
            var line = [CChar](repeating: 0, count: 256)
            while unsafe fgets(&line, Int32(line.count), file) != nil {
                let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                if text.hasPrefix("VmLck:") { return Int(text.filter(\.isNumber)) ?? -1 }
            }
            return -1
        }

        @Test("what the host allocates while an engine runs is not locked, unless the host asks for it")
        func hostsMemory() async throws {
            #expect(EngineConfiguration().memoryLock == .rings)
            for preset in EngineConfiguration.Preset.allCases {
                #expect(preset.configuration.memoryLock == .rings, "\(preset)")
            }
            let engine = try modestEngine()
            try await engine.start()
            // Far more than the rings of whatever else runs beside this test.
            let before = lockedKibibytes()
            let host = [UInt8](repeating: 1, count: 256 << 20)
            let after = lockedKibibytes()
            await engine.stop()
            #expect(before >= 0)
            #expect(after - before < 64 << 10)
            #expect(host.last == 1)
        }
    }
}
