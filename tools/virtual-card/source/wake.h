// What a program polls: one descriptor that becomes readable when the stream's timer has run out or its doorbell rang.
//
// Programs expect one descriptor for each PCM, as hardware has; so both are put behind one epoll descriptor.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "card.h"

/// A time that is past.
#define VC_AT_ONCE INT64_C(1)

typedef struct {
    int poll_descriptor;
    int timer;
    int doorbell;
} vc_wake;

/// 0 or -errno; what was opened is closed again on an error.
int vc_wake_open(vc_wake *wake, const vc_access *access, vc_direction direction);
void vc_wake_close(vc_wake *wake);

/// Readable from `monotonic_ns` on and not before; at once if that is past. Real-time safe: one system call.
void vc_wake_at(vc_wake *wake, int64_t monotonic_ns);
/// Readable only if the doorbell rings. Real-time safe: one system call.
void vc_wake_never(vc_wake *wake);
/// Clears the doorbell; the timer stays as it is. True if it had rung. Real-time safe.
bool vc_wake_answer(vc_wake *wake);
