// The card: what its two streams, and the control tool, share through POSIX shared memory.
//
// The object is called /vcard.SPACE.ID. Everything in it is of fixed size and at a fixed place (asserted in card.c), so
// that a program in any language can map it; README.md has the table. Who writes what is said at each member.
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tape.h"

#define VC_MAGIC UINT32_C(0x64726356) // "Vcrd" in memory
#define VC_LAYOUT_VERSION 1
#define VC_NAME_LIMIT 32

typedef enum { VC_PLAYBACK = 0, VC_CAPTURE = 1 } vc_direction;

static inline const char *vc_direction_name(vc_direction direction) {
    return direction == VC_PLAYBACK ? "playback" : "capture";
}

/// What one direction of the card tells the others, and what they may ask of it.
typedef struct {
    // Written by the stream that has this direction open.
    _Atomic int32_t process;      // its process, 0 when closed
    _Atomic int32_t running;      // 1 between start and stop
    _Atomic int64_t microhertz;   // rate of its converter
    _Atomic int64_t start_frame;  // converter's count at the stream's frame 0
    _Atomic int64_t position;     // frames since the start, as last reported to the program
    _Atomic int64_t queued_end;   // playback: the frame after the last one written
    _Atomic uint32_t xruns;       // since the card started afresh
    _Atomic uint32_t wakeups;     // times the program was told that frames are ready

    // Written by anyone, the requester first and then its counter; ring the doorbell afterwards.
    _Atomic uint32_t xrun_requests;
    _Atomic uint32_t jump_requests;
    _Atomic int64_t jump_frames;    // how far the position leaps at the next request; negative: it stands still that long
    _Atomic int64_t stalled_until;  // card time before which the program is not woken

    // Virtual time, under the card's lock.
    int32_t open;        // 1 while a stream has this direction open
    int32_t thread;      // the thread that last used the stream
    int32_t waiting;     // 1: its thread is in poll and wants `wanted`
    int32_t excused;     // 1: open but not running, and time no longer waits for it
    int32_t unpolled;    // how often its thread has waited for the other stream since it last waited for this one
    int32_t padding;
    int64_t wanted;      // card time at which it wants to be woken
    int64_t last_call;   // CLOCK_MONOTONIC of its last call
    int64_t reserved[6];
} vc_slot;

typedef struct {
    _Atomic uint32_t magic;           // VC_MAGIC once the rest is in place
    uint32_t version;                 // VC_LAYOUT_VERSION
    int32_t rate;                     // nominal rate of both converters, in hertz
    int32_t is_virtual;               // 1: card time moves only when its streams wait
    int64_t epoch;                    // CLOCK_MONOTONIC at card time 0, in nanoseconds
    _Atomic int64_t virtual_now;      // card time in virtual time
    _Atomic uint32_t plug_generation; // even: plugged in; odd: unplugged; a stream belongs to the one it was opened in
    _Atomic uint32_t openings;        // times that the card started afresh
    _Atomic int64_t replug_at;        // CLOCK_MONOTONIC at which an unplugged card is back by itself, 0 never
    _Atomic int64_t delay_frames;     // from speaker to microphone
    _Atomic uint64_t gain_bits;       // speaker's gain in the microphone, the bits of a double
    pthread_mutex_t lock;             // of virtual time; robust and shared between processes
    char reserved[256 - 64 - sizeof(pthread_mutex_t)];
    vc_slot slots[2];                 // by vc_direction
    vc_tape tape;                     // what the speaker plays
} vc_card;

/// A card as one stream, or the control tool, has it open.
typedef struct {
    vc_card *card;
    int descriptor;      // of the shared memory object; the lock on a direction is held through it
    uint32_t generation; // plug_generation when it was opened
    char space[VC_NAME_LIMIT + 1];
    char id[VC_NAME_LIMIT + 1];
} vc_access;

/// What both streams of a card must agree on.
typedef struct {
    const char *space;
    const char *id;
    long rate;
    bool is_virtual;
} vc_identity;

/// Opens one direction of a card and makes the card if it is not there; one that nobody has open starts afresh.
/// Returns 0, -EBUSY (the direction is taken), -ENODEV (unplugged), -EINVAL (another rate or time), or another -errno.
int vc_card_open(vc_access *access, const vc_identity *identity, vc_direction direction);

/// Maps a card that exists, for control. 0 or -errno.
int vc_card_attach(vc_access *access, const char *space, const char *id);

/// Gives the direction and the mapping back. The card stays, for the control tool and for the next opening.
void vc_card_close(vc_access *access);

/// Whether a stream that lives has the other direction open.
bool vc_card_is_taken(const vc_access *access, vc_direction direction);

static inline bool vc_card_is_gone(const vc_access *access) {
    return atomic_load_explicit(&access->card->plug_generation, memory_order_acquire) != access->generation;
}

/// Pulls the plug, if it is in; it goes back in by itself after `replug_after_ns` unless that is negative.
void vc_card_unplug(vc_access *access, int64_t replug_after_ns);
void vc_card_replug(vc_access *access);

void vc_card_set_gain(vc_card *card, double gain);
double vc_card_gain(const vc_card *card);
