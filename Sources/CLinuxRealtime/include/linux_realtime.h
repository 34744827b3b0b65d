// The Linux calls that the real-time threads need and Swift cannot make by itself.
//
// Functions marked DV_REALTIME_SAFE may be called from capture and playback code: the Swift compiler takes our word
// that they neither lock nor allocate, so each says here why that is true. This header is the complete list of what is
// vouched for.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "transport_sockets.h"

#define DV_REALTIME_SAFE __attribute__((swift_attr("@_noLocks"))) __attribute__((swift_attr("@_noAllocation")))
#define DV_SENDABLE __attribute__((swift_attr("@Sendable")))

// MARK: Clocks

/// CLOCK_MONOTONIC in nanoseconds. Real-time safe: a vDSO read, no system call.
int64_t dv_monotonic_nanoseconds(void) DV_REALTIME_SAFE;

/// CPU time that the calling thread has used, in nanoseconds. Real-time safe: one system call that returns at once.
int64_t dv_thread_cpu_nanoseconds(void) DV_REALTIME_SAFE;

// MARK: Threads

typedef struct dv_thread dv_thread;
typedef void (*dv_thread_body)(void *context) DV_SENDABLE;

/// Who may give a thread (its kernel's number) real-time priority where the kernel does not permit it: returns the
/// priority that it has then, or 0.
typedef int (*dv_realtime_broker)(int64_t thread, int priority) DV_SENDABLE;

/// What a thread was granted: its real-time priority, 0 for none; and the errno of a refusal, 0 where nothing was
/// refused.
typedef struct {
    int priority;
    int error;
} dv_scheduling;

/// Starts a thread that runs `body(context)` once, with all signals blocked but those of a crash. `name` keeps its
/// first 15 bytes. `priority` 1 to 99 asks for SCHED_FIFO, 0 for the ordinary scheduler; where the process's limit is
/// lower, that is asked for. Where the kernel does not permit it (EPERM), or is not to be asked, `broker` is, unless it
/// is NULL; the body begins when it has answered. A refusal is not an error: the thread runs all the same. Returns 0 and
/// the thread in `*out`, or an errno.
int dv_thread_start(
    dv_thread **out, const char *name, int priority, int asks_kernel, dv_realtime_broker broker, dv_thread_body body, void *context,
    dv_scheduling *granted);

/// The broker that desktops have: RealtimeKit on the system bus. Gives SCHED_RR, at most at priority 20, and has the
/// process limit how long its real-time threads run without sleeping (RLIMIT_RTTIME, 200 ms). Blocks, for some
/// milliseconds where it runs, and never twice where nobody answers.
int dv_ask_realtime_kit(int64_t thread, int priority);

/// `priority` of 99 on a scale up to `highest`, in the same order; at least 1.
int dv_scaled_priority(int priority, int highest);

/// The highest priority up to `priority` that a process of this `limit` may ask for; 0 for none.
int dv_permitted_priority(int priority, int limit);

/// Waits for the thread's end: every caller does, on any thread and as often as it likes. On the thread itself it
/// returns at once.
void dv_thread_join(dv_thread *thread);

/// Whether the calling thread was made by dv_thread_start.
int dv_thread_is_current(void);

/// Waits for the thread's end and frees it. Called from the thread itself it lets go of the thread and frees at once.
/// No call on `thread` may follow or be under way.
void dv_thread_free(dv_thread *thread);

/// Locks all present and future pages of the process, each when it is first touched. Returns 0 or an errno. Refuses
/// with EPERM where the limit is finite, because a lock of future pages that runs into the limit makes later
/// allocations of the whole process fail.
int dv_lock_memory(void);

/// The errno of the last lock of a buffer that was refused on this thread since this was last asked; 0 for none.
int dv_take_lock_refusal(void);

/// The SCHED_FIFO priority that this process may ask for: 99 with CAP_SYS_NICE, else RLIMIT_RTPRIO; 0 for none.
int dv_realtime_priority_limit(void);

/// How many bytes may be locked: INT64_MAX with CAP_IPC_LOCK or without a limit, else RLIMIT_MEMLOCK.
int64_t dv_memory_lock_limit(void);

// MARK: Memory

/// `bytes` of zeros on pages of their own, locked where that is permitted. Returns NULL and sets errno where the kernel
/// refuses.
void *dv_pages_map(size_t bytes);
void dv_pages_unmap(void *memory, size_t bytes);

/// Memory of `bytes` (a multiple of the page size) that is mapped twice in a row, so that a span that starts anywhere
/// in the first half may run over its end. Touched once, so that no page fault is left. Returns NULL and sets errno
/// where the kernel refuses.
void *dv_mirrored_map(size_t bytes);
void dv_mirrored_unmap(void *memory, size_t bytes);
size_t dv_page_size(void);

// MARK: Waking

/// An eventfd in non-blocking mode, or -1 with errno.
int dv_event_create(void);
void dv_event_close(int event);

/// Makes the event readable. Real-time safe: one write of eight bytes that cannot block, since the descriptor is
/// non-blocking.
void dv_event_signal(int event) DV_REALTIME_SAFE;

/// Waits until the event is signalled or `timeout_nanoseconds` have passed (negative: for ever), and clears it. 1 if it
/// was signalled.
int dv_event_wait(int event, int64_t timeout_nanoseconds);

// MARK: Watching

/// Tells RealtimeSanitizer and rtwatch, where one is loaded, that real-time code begins or ends on this thread;
/// otherwise does nothing. Real-time safe: at most two calls through pointers that were resolved by dv_watch_prepare.
void dv_realtime_enter(void) DV_REALTIME_SAFE;
void dv_realtime_exit(void) DV_REALTIME_SAFE;

/// Stops and resumes RealtimeSanitizer's watch on this thread, around a call that it rejects by its name and that this
/// header vouches for by its arguments. Real-time safe: at most one call through a pointer that was resolved by
/// dv_watch_prepare.
void dv_watch_pause(void) DV_REALTIME_SAFE;
void dv_watch_resume(void) DV_REALTIME_SAFE;

/// Tells RealtimeSanitizer, where it is loaded, that `function` is being called, as its own interceptors do.
void dv_watch_notify(const char *function);

/// Looks the watchers up. Call once before the first real-time thread starts; repeated calls do no harm.
void dv_watch_prepare(void);

/// Allocations that the calling thread has made so far, where the process is linked with CAllocationCounter; else -1.
int64_t dv_thread_allocations(void);

/// How CAllocationCounter makes itself known.
typedef int64_t (*dv_allocation_counter)(void);
void dv_set_allocation_counter(dv_allocation_counter counter);
