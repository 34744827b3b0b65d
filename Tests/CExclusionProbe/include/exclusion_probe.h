// How a thread waits for the lock of the WebRTC shim, seen from outside.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    EXCLUSION_UNKNOWN = -1,      // the kernel does not tell what a thread waits for
    EXCLUSION_PLAIN = 0,         // whoever holds the lock keeps its own priority
    EXCLUSION_INHERITED = 1,     // whoever holds it runs with the priority of whoever waits (FUTEX_LOCK_PI)
} exclusion_wait;

// How an instance that processes waits for one that excludes all others.
exclusion_wait exclusion_processing_wait(void);
// How one that would exclude all others waits for another that does.
exclusion_wait exclusion_alone_wait(void);

#ifdef __cplusplus
}
#endif
