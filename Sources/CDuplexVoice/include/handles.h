// Handles: numbers that name objects, for the C library. In C, because its table is there before any code runs, where a global of Swift's would be made
// under a lock by whoever comes first.
#pragma once

#include <stdint.h>

#include "duplexvoice.h"

#define DV_VOUCHED __attribute__((swift_attr("@_noLocks"))) __attribute__((swift_attr("@_noAllocation")))

/// Objects of all kinds in a process.
#define DV_HANDLE_SLOTS 256

/// What of an object a call needs to itself.
/// An object whose sound goes two ways has a second sound side.
enum { DV_SIDE_SOUND = 1, DV_SIDE_CONTROL = 2, DV_SIDE_SECOND_SOUND = 4, DV_SIDE_ALL = 7 };

/// Names `object`. 0 where all slots are taken. A number is given once in a process; a slot that has given 2^40 is used no more.
uint64_t dv_handle_make(uint8_t kind, void *_Nonnull object);

/// Takes the sides of the object that the handle names. NULL, and a status, where it names none of the kind or one of the sides is taken.
/// Real-time safe: atomic operations on static memory, and no more than 64 tries where others take and leave the other side meanwhile.
void *_Nullable dv_handle_enter(uint64_t handle, uint8_t kind, uint32_t sides, dv_status *_Nonnull status) DV_VOUCHED;

/// Leaves the sides that were taken. Real-time safe: one atomic operation.
void dv_handle_leave(uint64_t handle, uint32_t sides) DV_VOUCHED;

/// As dv_handle_enter, and waits while a side is taken: for sides that are taken for a moment only. DV_BUSY after a tenth of a second.
void *_Nullable dv_handle_enter_soon(uint64_t handle, uint8_t kind, uint32_t sides, dv_status *_Nonnull status);

/// Takes the name from an object that no call uses, and returns the object. NULL, and a status, where there is none or a side is taken.
void *_Nullable dv_handle_retire(uint64_t handle, uint8_t kind, dv_status *_Nonnull status);

/// The same, and waits as dv_handle_enter_soon does.
void *_Nullable dv_handle_retire_soon(uint64_t handle, uint8_t kind, dv_status *_Nonnull status);

/// Around a call of a function that the caller gave: dv_callback_runs is 1 on this thread meanwhile.
void dv_callback_enter(void);
void dv_callback_leave(void);
int32_t dv_callback_runs(void);
