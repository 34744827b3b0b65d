#pragma once

#include <pthread.h>
#include <sched.h>

// Of a thread that is to be ordinary: a real-time creator's policy would be inherited. Any other is inherited on purpose: `chrt --idle`
// and `--batch` are the user's choice, which an unprivileged process may not take back. Priority too: glibc takes the creator's for one
// that is not set, and the kernel refuses that with SCHED_OTHER.
static inline void make_ordinary(pthread_attr_t *attributes) {
    const int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    if (policy != SCHED_FIFO && policy != SCHED_RR) return;
    const struct sched_param parameters = {.sched_priority = 0};
    pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(attributes, SCHED_OTHER);
    pthread_attr_setschedparam(attributes, &parameters);
}
