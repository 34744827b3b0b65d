internal import CLinuxRealtime

/// What others can see of this process's memory, in which keys, tokens and voices are.
package enum ProcessMemory {
    /// Keeps it out of core dumps, and from debuggers and `/proc` for all but root (`PR_SET_DUMPABLE`, prctl(2)). For the whole process, so it is the program's to decide, and no
    /// part of the library calls it. Any thread. False where the system refuses.
    @discardableResult
    package static func hide() -> Bool { dv_process_set_dumpable(0) == 0 }
}
