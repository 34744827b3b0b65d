#if canImport(Glibc)
    internal import Glibc
#endif

/// Why the system refused something, by its `errno`, in words; with the remedy where a limit of the process is behind
/// it. Any thread; allocates.
package func systemReason(_ number: Int32) -> String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    let reason = unsafe String(cString: text)
    return number == EMFILE ? "\(reason); raise the process's limit (ulimit -n)" : reason
}
