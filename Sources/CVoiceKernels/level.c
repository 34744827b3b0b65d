// Which variants of the kernels this processor runs.
#include "CVoiceKernels.h"
#include "simd.h"

int vk_level(void) {
#ifdef VK_CLONED
    // As the compiler chooses among the clones of VK_CLONES.
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v4")) return 4;
    if (__builtin_cpu_supports("x86-64-v3")) return 3;
#endif
    return 1;
}
