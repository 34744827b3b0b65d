#pragma once

#include <stdint.h>

// To be called behind a wait that began at `before`. A thread at real-time priority that finds something to do whenever it looks never
// sleeps: everything else keeps waiting for its processor, and where RealtimeKit gave the priority the kernel ends the process after 200 ms
// of that (RLIMIT_RTTIME). So it sleeps for half a millisecond in fifty. Of threads that were not started here it is the host's to say when
// they sleep, which may be elsewhere.
void dv_breathe(int64_t before);
