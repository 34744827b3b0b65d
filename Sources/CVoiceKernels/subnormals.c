// The floating-point unit's control word, where there is one that flushes subnormal numbers.

#include "include/CVoiceKernels.h"

#if defined(__x86_64__)
#include <xmmintrin.h>

unsigned long vk_flush_subnormals(void) {
    const unsigned state = _mm_getcsr();
    _mm_setcsr(state | 0x8040);  // flush results to zero, take operands as zero
    return state;
}

void vk_restore_rounding(unsigned long state) { _mm_setcsr((unsigned)state); }

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
