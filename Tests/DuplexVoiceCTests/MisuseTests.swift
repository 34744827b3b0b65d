import CDuplexVoice
import Testing

extension LibraryTests {
    /// The same from a program of C's, and from several threads: Tests/CMisuse, which tools/package-c runs.
    @Suite("Misuse has a status")
    struct MisuseTests {
        @Test("a handle is never used again, and names nothing once its object is gone")
        func handles() throws {
            var first: dv_processor = 0
            do {
                let processor = try CProcessor(backend: DV_BACKEND_BYPASS)
                first = processor.handle
                #expect(processor.delay == 479)
            }
            let second = try CProcessor(backend: DV_BACKEND_BYPASS)
            #expect(second.handle != first)
            var frames: UInt32 = 7
            for dead in [first, 0, .max, second.handle + 1, second.handle ^ (1 << 20), second.handle ^ (1 << 57)] {
                #expect(unsafe dv_processor_delay(dead, &frames) == DV_INVALID_HANDLE, "\(dead)")
                #expect(dv_processor_destroy(dead) == DV_INVALID_HANDLE, "\(dead)")
            }
            #expect(frames == 7)
            #expect(second.delay == 479)
        }

        @Test("a side takes one call at a time, and nothing is destroyed under one")
        func sides() throws {
            let processor = try CProcessor(backend: DV_BACKEND_BYPASS)
            var status = DV_OK
            let kind = UInt8(processor.handle >> 56)
            #expect(unsafe dv_handle_enter(processor.handle, kind, UInt32(DV_SIDE_SOUND), &status) != nil)
            _ = processor.run([0], nil, calls: [1])
            #expect(processor.status == DV_BUSY)
            #expect(dv_processor_destroy(processor.handle) == DV_BUSY)
            // The other side goes on.
            #expect(processor.delay == 479)
            dv_handle_leave(processor.handle, UInt32(DV_SIDE_SOUND))
            _ = processor.run([0], nil, calls: [1])
            #expect(processor.status == DV_OK)
        }

        @Test("as many as there may be, and one more")
        func tooMany() throws {
            var all: [CProcessor] = []
            while all.count <= Int(DV_HANDLE_SLOTS) {
                do { all.append(try CProcessor(backend: DV_BACKEND_BYPASS)) } catch let refusal as Refusal {
                    #expect(refusal.status == DV_TOO_MANY)
                    break
                }
            }
            #expect(all.count == Int(DV_HANDLE_SLOTS))
            #expect(Set(all.map(\.handle)).count == all.count)
            all.removeLast()
            _ = try CProcessor(backend: DV_BACKEND_BYPASS)
        }

        /// A structure in memory that goes on.
        private struct Longer {
            var settings = dv_processor_settings()
            var beyond: UInt64 = 0
        }

        @Test("sizes: what no version had, what a later one may have")
        func sizes() throws {
            let processor = try CProcessor(backend: DV_BACKEND_BYPASS)
            func apply(_ size: Int, beyond: UInt64 = 0) -> (dv_status, String) {
                var longer = Longer()
                longer.settings = settings(of: DV_PRESET_BYPASS)
                longer.settings.size = UInt32(size)
                longer.beyond = beyond
                var error = dv_error()
                let status = unsafe withUnsafePointer(to: &longer) {
                    unsafe $0.withMemoryRebound(to: dv_processor_settings.self, capacity: 1) {
                        unsafe dv_processor_apply(processor.handle, $0, &error)
                    }
                }
                return (status, text(error))
            }
            let size = MemoryLayout<dv_processor_settings>.size
            #expect(apply(size) == (DV_OK, ""))
            #expect(apply(size + 8) == (DV_OK, ""))
            #expect(apply(size + 8, beyond: 1 << 40).0 == DV_UNSUPPORTED)
            for wrong in [0, 4, size - 1, 5_000] {
                let (status, message) = apply(wrong)
                #expect(status == DV_INVALID_SIZE)
                let name = "dv_processor_settings"
                #expect(message == "\(name).size is \(wrong); set it to sizeof(\(name)), \(size)")
            }
        }

        @Test("a report fills no more than its size, and says how much that is")
        func shortReport() throws {
            let processor = try CProcessor(backend: DV_BACKEND_BYPASS)
            var report = dv_processor_report()
            report.size = 4_000
            // Only what the library knows is written, however long the caller's is.
            #expect(unsafe dv_processor_get_report(processor.handle, &report) == DV_OK)
            #expect(report.size == UInt32(MemoryLayout<dv_processor_report>.size))
            report.size = 87
            #expect(unsafe dv_processor_get_report(processor.handle, &report) == DV_INVALID_SIZE)
        }

        @Test("a field out of its range is named with what to do")
        func fields() throws {
            func refusal(_ change: (inout dv_processor_config) -> Void) -> String {
                var config = dv_processor_config()
                config.size = UInt32(MemoryLayout<dv_processor_config>.size)
                config.sample_rate = 48_000
                config.backend = UInt32(DV_BACKEND_BYPASS)
                change(&config)
                var made: dv_processor = 9
                var error = dv_error()
                #expect(unsafe dv_processor_create(&config, nil, &made, &error) == DV_INVALID_ARGUMENT)
                #expect(made == 0 && error.status == DV_INVALID_ARGUMENT)
                return text(error)
            }
            #expect(refusal { $0.sample_rate = 0 }.hasPrefix("config.sample_rate is 0; convert to one of 8000, 11025"))
            #expect(refusal { $0.capture_channels = 33 } == "config.capture_channels is 33; take 1 to 32")
            #expect(refusal { $0.reference_channels = .max }.hasPrefix("config.reference_channels is 4294967295"))
            #expect(refusal { $0.block_frames = 1 << 21 }.hasPrefix("config.block_frames is 2097152"))
            #expect(refusal { $0.backend = 4 }.hasPrefix("config.backend is 4"))
            #expect(refusal { $0.expected_delay_ms = .nan }.hasPrefix("config.expected_delay_ms is nan"))
            #expect(refusal { $0.expected_delay_ms = 601 }.hasPrefix("config.expected_delay_ms is 601"))
        }

        @Test("settings out of their range leave the old ones")
        func settingsRefused() throws {
            let processor = try CProcessor(preset: DV_PRESET_HEADSET)
            let changes: [(inout dv_processor_settings) -> Void] = [
                { $0.echo = 5 }, { $0.noise = 256 }, { $0.noise_method = 2 }, { $0.gain = 3 },
                { $0.voice_detection = 5 }, { $0.high_pass = 2 }, { $0.target_level = -300 }, { $0.maximum_gain = 41 },
                { $0.fixed_gain = -41 },
            ]
            for change in changes {
                var wanted = settings(of: DV_PRESET_BYPASS)
                change(&wanted)
                var error = dv_error()
                #expect(unsafe dv_processor_apply(processor.handle, &wanted, &error) == DV_INVALID_ARGUMENT)
                #expect(text(error).hasPrefix("settings"), "\(text(error))")
            }
            _ = processor.run([Float](repeating: 0, count: 480), nil, calls: [480])
            #expect(processor.active.noise == settings(of: DV_PRESET_HEADSET).noise)
        }

        @Test("a number of frames that was not agreed on is refused, and nothing is written")
        func frames() throws {
            let processor = try CProcessor(blockFrames: 64, backend: DV_BACKEND_BYPASS)
            let sound = [Float](repeating: 0.5, count: 100)
            #expect(processor.run(sound, nil, calls: [65]).allSatisfy { $0.isNaN })
            #expect(processor.status == DV_INVALID_ARGUMENT)
            #expect(dv_processor_run(processor.handle, nil, nil, nil, 0) == DV_OK)
            #expect(dv_processor_run(processor.handle, nil, nil, nil, 64) == DV_INVALID_ARGUMENT)
        }

        @Test("every status has a sentence, and so has what is none")
        func statuses() {
            func text(_ status: Int32) -> String { unsafe String(cString: dv_status_text(status)) }
            let texts = Set((-14...0).map(text))
            #expect(texts.count == 15)
            for none in [1, -15, Int32.min] {
                #expect(text(none) == "this number is no status of this library")
            }
        }
    }
}
