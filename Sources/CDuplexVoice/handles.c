#include "handles.h"

#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

// A handle: kind, 8 bits; generation, 40; slot, 16, from 1. A slot's state: the same kind and generation, and who is inside.
enum { SLOT_BITS = 16, GENERATION_BITS = 40, LIVE = 0x80, RESERVED = 0x40 };
static const uint64_t last_generation = (UINT64_C(1) << GENERATION_BITS) - 1;
static const int most_tries = 64;
static const int most_waits = 1000;
static const struct timespec moment = {.tv_nsec = 100000};

struct slot {
    _Atomic uint64_t state; // generation << 16 | kind << 8 | LIVE, RESERVED, sides
    void *object;           // written while RESERVED, read while LIVE
};

static struct slot slots[DV_HANDLE_SLOTS];

static uint64_t live_state(uint64_t generation, uint8_t kind) {
    return generation << 16 | (uint64_t)kind << 8 | LIVE;
}

static struct slot *slot_of(uint64_t handle) {
    uint64_t number = handle & ((1u << SLOT_BITS) - 1);
    return number >= 1 && number <= DV_HANDLE_SLOTS ? &slots[number - 1] : NULL;
}

static uint64_t expected_state(uint64_t handle) {
    return live_state(handle >> SLOT_BITS & last_generation, (uint8_t)(handle >> (SLOT_BITS + GENERATION_BITS)));
}

uint64_t dv_handle_make(uint8_t kind, void *object) {
    for (uint64_t number = 0; number < DV_HANDLE_SLOTS; number++) {
        struct slot *slot = &slots[number];
        uint64_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
        uint64_t generation = state >> 16;
        if (state & (LIVE | RESERVED) || generation == last_generation) continue;
        // Acquires what the one before has left behind.
        if (!atomic_compare_exchange_strong_explicit(
                &slot->state, &state, state | RESERVED, memory_order_acquire, memory_order_relaxed))
            continue;
        slot->object = object;
        generation++;
        atomic_store_explicit(&slot->state, live_state(generation, kind), memory_order_release);
        return (uint64_t)kind << (SLOT_BITS + GENERATION_BITS) | generation << SLOT_BITS | (number + 1);
    }
    return 0;
}

// Takes the sides, or with RESERVED the whole slot.
static struct slot *take(uint64_t handle, uint8_t kind, uint64_t excluded, uint64_t taken, dv_status *status) {
    struct slot *slot = slot_of(handle);
    uint64_t expected = expected_state(handle);
    *status = DV_INVALID_HANDLE;
    if (slot == NULL || (expected >> 8 & 0xff) != kind) return NULL;
    uint64_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
    for (int tries = 0; tries < most_tries; tries++) {
        if ((state & ~(uint64_t)DV_SIDE_ALL) != expected) return NULL;
        if (state & excluded) break;
        if (atomic_compare_exchange_weak_explicit(
                &slot->state, &state, state | taken, memory_order_acquire, memory_order_relaxed)) {
            *status = DV_OK;
            return slot;
        }
    }
    *status = DV_BUSY;
    return NULL;
}

void *dv_handle_enter(uint64_t handle, uint8_t kind, uint32_t sides, dv_status *status) {
    struct slot *slot = take(handle, kind, sides, sides, status);
    return slot ? slot->object : NULL;
}

void *dv_handle_enter_soon(uint64_t handle, uint8_t kind, uint32_t sides, dv_status *status) {
    for (int waits = 0; waits < most_waits; waits++) {
        void *object = dv_handle_enter(handle, kind, sides, status);
        if (*status != DV_BUSY) return object;
        nanosleep(&moment, NULL);
    }
    return NULL;
}

void dv_handle_leave(uint64_t handle, uint32_t sides) {
    atomic_fetch_and_explicit(&slot_of(handle)->state, ~(uint64_t)sides, memory_order_release);
}

void *dv_handle_retire(uint64_t handle, uint8_t kind, dv_status *status) {
    struct slot *slot = take(handle, kind, DV_SIDE_ALL, RESERVED, status);
    if (slot == NULL) return NULL;
    void *object = slot->object;
    slot->object = NULL;
    // Generation stays, which no handle will have again.
    atomic_store_explicit(&slot->state, (expected_state(handle) >> 16) << 16, memory_order_release);
    return object;
}

void *dv_handle_retire_soon(uint64_t handle, uint8_t kind, dv_status *status) {
    for (int waits = 0; waits < most_waits; waits++) {
        void *object = dv_handle_retire(handle, kind, status);
        if (*status != DV_BUSY) return object;
        nanosleep(&moment, NULL);
    }
    return NULL;
}

// A callback of one object may make a call of another that calls back.
static _Thread_local int32_t callbacks;

void dv_callback_enter(void) { callbacks++; }

void dv_callback_leave(void) { callbacks--; }

int32_t dv_callback_runs(void) { return callbacks > 0; }
