// Of what a program was built, as told when it was linked, and with what it runs.
#pragma once

/// The commit, in hexadecimal, or "" where nobody has told it. tools/package links another definition, which takes the place of the one here.
extern const char duplex_build_commit[];

/// The same, for Swift, which does not take arrays of no known length.
const char *_Nonnull duplex_commit(void);

/// Calls `visit` with the file of each shared library that is loaded, links followed, in the order of loading. The path lasts as long as the call.
void duplex_visit_libraries(void (*_Nonnull visit)(const char *_Nonnull path, void *_Nullable context), void *_Nullable context);
