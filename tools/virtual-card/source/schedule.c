#define _GNU_SOURCE
#include "schedule.h"

#include <errno.h>
#include <unistd.h>

#include "clock.h"
#include "doorbell.h"

enum {
    // A stream counts as polled by its thread until the thread has waited for the other one so often without it.
    FORGOTTEN = 3,
    // A stream that has just been started may be about to get a thread of its own: it is given this many settle times
    // more, 20 ms in all.
    NEWLY_STARTED = -100,
};

/// Real time after which it is said that time stands, and for whom.
static const int64_t STANDSTILL_NS = 10 * VC_NANOSECONDS;

static bool is_virtual(const vc_stream *stream) {
    return stream->access.card->is_virtual && !vc_card_is_gone(&stream->access);
}

static vc_slot *other(const vc_stream *stream) { return &stream->access.card->slots[!stream->direction]; }

static bool lock(vc_stream *stream) {
    pthread_mutex_t *mutex = &stream->access.card->lock;
    int error = pthread_mutex_lock(mutex);
    // Whoever died holding it left at worst a stale entry of its own, which is dropped when its direction is found free.
    if (error == EOWNERDEAD) error = pthread_mutex_consistent(mutex);
    return error == 0;
}

static void unlock(vc_stream *stream) { pthread_mutex_unlock(&stream->access.card->lock); }

static bool is_running(const vc_slot *slot) { return atomic_load(&slot->running); }

/// The thread that used both last.
static bool share_a_thread(const vc_slot *one, const vc_slot *another) {
    return one->open && another->open && one->thread == another->thread;
}

/// Whether the program cannot do anything to this running stream before time moves.
static bool is_blocked(const vc_slot *slot, const vc_slot *partner) {
    if (slot->waiting) return true;
    return share_a_thread(slot, partner) && partner->waiting && slot->unpolled >= FORGOTTEN;
}

/// Whether a stream that is open but does not run keeps time from moving.
static bool holds(vc_slot *slot, const vc_slot *partner) {
    if (!slot->open || slot->excused) return false;
    if (share_a_thread(slot, partner) && partner->waiting) return false;
    slot->excused = vc_monotonic_ns() - slot->last_call >= VC_GRACE_NS;
    return !slot->excused;
}

/// Moves time to the next thing that somebody waits for, if all do. True if it moved or somebody's time has come.
static bool advance(vc_stream *stream) {
    vc_card *card = stream->access.card;
    int64_t next = INT64_MAX;
    for (int direction = 0; direction < 2; direction++) {
        vc_slot *slot = &card->slots[direction], *partner = &card->slots[!direction];
        if (is_running(slot) ? !is_blocked(slot, partner) : holds(slot, partner)) return false;
        if (is_running(slot) && slot->waiting && slot->wanted < next) next = slot->wanted;
    }
    if (next == INT64_MAX) return false;
    int64_t now = atomic_load(&card->virtual_now);
    if (next > now) atomic_store(&card->virtual_now, now = next);
    for (int direction = 0; direction < 2; direction++) {
        vc_slot *slot = &card->slots[direction];
        if (!slot->waiting || slot->wanted > now) continue;
        slot->waiting = 0;
        if (direction == (int)stream->direction)
            vc_wake_at(&stream->wake, VC_AT_ONCE);
        else
            vc_doorbell_ring(&stream->access, stream->access.generation, (vc_direction)direction, stream->wake.doorbell);
    }
    return true;
}

static void note_call(vc_stream *stream) {
    stream->slot->thread = gettid();
    stream->slot->last_call = vc_monotonic_ns();
}

static void settle(vc_stream *stream) { vc_wake_at(&stream->wake, vc_monotonic_ns() + VC_SETTLE_NS); }

void vc_schedule_join(vc_stream *stream) {
    if (!is_virtual(stream) || !lock(stream)) return;
    vc_slot *slot = stream->slot;
    slot->open = 1;
    slot->waiting = slot->excused = 0;
    slot->unpolled = NEWLY_STARTED;
    note_call(stream);
    unlock(stream);
}

void vc_schedule_leave(vc_stream *stream) {
    if (!is_virtual(stream) || !lock(stream)) return;
    stream->slot->open = stream->slot->waiting = 0;
    atomic_store(&stream->slot->running, 0);
    advance(stream);
    unlock(stream);
}

void vc_schedule_run(vc_stream *stream) {
    if (!is_virtual(stream) || !lock(stream)) return;
    note_call(stream);
    vc_slot *slot = stream->slot;
    slot->waiting = slot->excused = 0;
    slot->unpolled = NEWLY_STARTED;
    atomic_store(&slot->running, 1);
    settle(stream);
    unlock(stream);
}

void vc_schedule_halt(vc_stream *stream) {
    if (!is_virtual(stream) || !lock(stream)) return;
    note_call(stream);
    stream->slot->waiting = 0;
    atomic_store(&stream->slot->running, 0);
    advance(stream);
    unlock(stream);
}

void vc_schedule_touch(vc_stream *stream) {
    if (!is_virtual(stream) || !lock(stream)) return;
    note_call(stream);
    if (stream->slot->waiting) {
        stream->slot->waiting = 0;
        settle(stream);
    }
    unlock(stream);
}

void vc_schedule_serve(vc_stream *stream) {
    if (!is_virtual(stream) || !lock(stream)) return;
    note_call(stream);
    stream->slot->waiting = 0;
    stream->slot->unpolled = 0;
    settle(stream);
    unlock(stream);
}

/// Drops the other stream if the process that had it is no more; else says, once, that time stands for its sake.
static void look_after(vc_stream *stream) {
    vc_slot *partner = other(stream);
    if (!partner->open) return;
    if (!vc_card_is_taken(&stream->access, !stream->direction)) {
        partner->open = partner->waiting = 0;
        atomic_store(&partner->running, 0);
        atomic_store(&partner->process, 0);
        return;
    }
    if (stream->has_complained || vc_monotonic_ns() - stream->waiting_since < STANDSTILL_NS) return;
    stream->has_complained = true;
    SNDERR("vcard %s: virtual time has stood for 10 s: %s waits, and %s (thread %d) neither waits nor is stopped",
        stream->access.id, vc_direction_name(stream->direction), vc_direction_name(!stream->direction),
        partner->thread);
}

void vc_schedule_wait(vc_stream *stream, int64_t wanted) {
    if (!is_virtual(stream) || !lock(stream)) return;
    vc_slot *slot = stream->slot, *partner = other(stream);
    note_call(stream);
    if (!slot->waiting) stream->waiting_since = vc_monotonic_ns();
    slot->waiting = 1;
    slot->wanted = wanted;
    slot->unpolled = 0;
    if (share_a_thread(slot, partner) && partner->unpolled < FORGOTTEN) partner->unpolled++;
    vc_wake_never(&stream->wake);
    if (!advance(stream)) {
        if (share_a_thread(slot, partner) && is_running(partner) && !partner->waiting) {
            settle(stream);
        } else {
            look_after(stream);
            if (!advance(stream)) vc_wake_at(&stream->wake, vc_monotonic_ns() + VC_GRACE_NS);
        }
    }
    unlock(stream);
}
