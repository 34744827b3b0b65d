// Tells ThreadSanitizer of the waits of Synchronization.Mutex.
//
// A Mutex that is free is taken and given back by atomics that are compiled into its user, where the sanitizer sees
// them. One that is held is waited for within libswiftSynchronization, which is not instrumented: there, two threads
// that take turns look like a race. This library, loaded first, stands before those three functions of Swift 6's Mutex
// for Linux and says what they do.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

void __tsan_acquire(void *) __attribute__((weak));
void __tsan_release(void *) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void dv_lock(uint32_t thread, SELF mutex) __asm__(LOCK);
SWIFT bool dv_try_lock(SELF mutex) __asm__(TRY_LOCK);
SWIFT void dv_unlock(SELF mutex) __asm__(UNLOCK);

typedef SWIFT void Lock(uint32_t, SELF);
typedef SWIFT bool TryLock(SELF);
typedef SWIFT void Unlock(SELF);

SWIFT void dv_lock(uint32_t thread, SELF mutex) {
    ((Lock *)dlsym(RTLD_NEXT, LOCK))(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool dv_try_lock(SELF mutex) {
    bool taken = ((TryLock *)dlsym(RTLD_NEXT, TRY_LOCK))(mutex);
    if (taken && __tsan_acquire) __tsan_acquire(mutex);
    return taken;
}

SWIFT void dv_unlock(SELF mutex) {
    if (__tsan_release) __tsan_release(mutex);
    ((Unlock *)dlsym(RTLD_NEXT, UNLOCK))(mutex);
}
