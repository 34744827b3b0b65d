#include "duplex_build.h"

__attribute__((weak)) const char duplex_build_commit[] = "";

const char *duplex_commit(void) { return duplex_build_commit; }
