// Of what a program was built, as told when it was linked.
#pragma once

/// The commit, in hexadecimal, or "" where nobody has told it. tools/package links another definition, which takes the place of the one here.
extern const char duplex_build_commit[];

/// The same, for Swift, which does not take arrays of no known length.
const char *_Nonnull duplex_commit(void);
