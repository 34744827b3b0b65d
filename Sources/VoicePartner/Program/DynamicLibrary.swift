internal import Glibc

/// A library that is looked for when the program runs, and may be missing. It stays loaded.
///
/// From any thread.
@safe
struct DynamicLibrary: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer

    /// Nil where there is no library of this name.
    init?(_ name: String) {
        guard let handle = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
        unsafe self.handle = handle
    }

    /// A function of the library. `Function` must be its type in C: nothing checks that.
    @unsafe
    func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        guard let address = unsafe dlsym(handle, name) else { return nil }
        return unsafe unsafeBitCast(address, to: Function.self)
    }
}
