// The floating-point unit's control word, where there is one that flushes subnormal numbers.

#include "include/CVoiceKernels.h"

#if defined(__x86_64__)
#include <xmmintrin.h>

// Flush results to zero, take operands as zero.
enum { FLUSH = 0x8040 };

unsigned long vk_flush_subnormals(void) {
    const unsigned state = _mm_getcsr();
    _mm_setcsr(state | FLUSH);
    return state & FLUSH;
}

// The same word tells which exceptions occurred; that stays.
void vk_restore_rounding(unsigned long state) { _mm_setcsr((_mm_getcsr() & ~(unsigned)FLUSH) | (unsigned)state); }

#elif defined(__aarch64__)

unsigned long vk_flush_subnormals(void) {
    unsigned long state;
    __asm__ volatile("mrs %0, fpcr" : "=r"(state));
    __asm__ volatile("msr fpcr, %0" : : "r"(state | 1ul << 24));
    return state;
}

void vk_restore_rounding(unsigned long state) { __asm__ volatile("msr fpcr, %0" : : "r"(state)); }

#else

unsigned long vk_flush_subnormals(void) { return 0; }
void vk_restore_rounding(unsigned long state) { (void)state; }

#endif
