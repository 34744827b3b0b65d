internal import CLinuxRealtime

/// What others can see of this process's memory, in which keys, tokens and voices are.
///
/// For the whole process, so it is the program's to decide, and no part of the library calls it. Any thread.
package enum ProcessMemory {
    /// Keeps it out of core dumps, and from debuggers and `/proc` for all but root (`PR_SET_DUMPABLE`, prctl(2)): for a
    /// server. Sound servers look into `/proc` for who their clients are. False where the system refuses.
    @discardableResult
    package static func hide() -> Bool { dv_process_set_dumpable(0) == 0 }

    /// Keeps it out of core dumps (`/proc/PID/coredump_filter`, core(5)), which then hold registers and no memory.
    /// False
    /// where the system refuses.
    @discardableResult
    package static func keepOutOfCoreDumps() -> Bool { unsafe dv_process_set_core_filter("0x0") == 0 }
}
