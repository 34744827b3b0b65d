#include "wake.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "clock.h"
#include "doorbell.h"

static int watch(int poll_descriptor, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN};
    return epoll_ctl(poll_descriptor, EPOLL_CTL_ADD, descriptor, &event);
}

int vc_wake_open(vc_wake *wake, const vc_access *access, vc_direction direction) {
    wake->poll_descriptor = epoll_create1(EPOLL_CLOEXEC);
    wake->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    int error = wake->poll_descriptor < 0 || wake->timer < 0 ? -errno : 0;
    wake->doorbell = vc_doorbell_open(access, direction);
    if (!error && wake->doorbell < 0) error = wake->doorbell;
    if (!error && (watch(wake->poll_descriptor, wake->timer) < 0 || watch(wake->poll_descriptor, wake->doorbell) < 0))
        error = -errno;
    if (error) vc_wake_close(wake);
    return error;
}

void vc_wake_close(vc_wake *wake) {
    if (wake->poll_descriptor >= 0) close(wake->poll_descriptor);
    if (wake->timer >= 0) close(wake->timer);
    if (wake->doorbell >= 0) close(wake->doorbell);
    wake->poll_descriptor = wake->timer = wake->doorbell = -1;
}

void vc_wake_at(vc_wake *wake, int64_t monotonic_ns) {
    if (monotonic_ns < 1) monotonic_ns = 1; // 0 would disarm the timer
    struct itimerspec when = {.it_value = {.tv_sec = monotonic_ns / VC_NANOSECONDS, .tv_nsec = monotonic_ns % VC_NANOSECONDS}};
    timerfd_settime(wake->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

void vc_wake_never(vc_wake *wake) {
    struct itimerspec never = {0};
    timerfd_settime(wake->timer, TFD_TIMER_ABSTIME, &never, NULL);
}

bool vc_wake_answer(vc_wake *wake) { return vc_doorbell_answer(wake->doorbell); }
