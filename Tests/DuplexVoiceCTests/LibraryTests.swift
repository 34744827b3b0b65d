import Testing

/// The tests of the C library: one after another, since one of them uses up all handles of the process.
@Suite("The library for C", .serialized)
struct LibraryTests {}
