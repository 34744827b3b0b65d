// Which level's kernels run: the highest that the processor has, unless a lower one is asked for.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/list.h"

typedef struct {
#define MEMBER(result, name, parameters, arguments) result(*name) parameters;
    VK_KERNELS(MEMBER)
} kernels;

#define DECLARE_V1(result, name, parameters, arguments) result name##_v1 parameters;
#define TAKE_V1(result, name, parameters, arguments) .name = name##_v1,
VK_KERNELS(DECLARE_V1)
static const kernels baseline = {VK_KERNELS(TAKE_V1)};

#if defined(__x86_64__)
#define DECLARE_V3(result, name, parameters, arguments) result name##_v3 parameters;
#define TAKE_V3(result, name, parameters, arguments) .name = name##_v3,
VK_KERNELS(DECLARE_V3)
static const kernels level_3 = {VK_KERNELS(TAKE_V3)};

#define DECLARE_V4(result, name, parameters, arguments) result name##_v4 parameters;
#define TAKE_V4(result, name, parameters, arguments) .name = name##_v4,
VK_KERNELS(DECLARE_V4)
static const kernels level_4 = {VK_KERNELS(TAKE_V4)};
#endif

// Set before main, and by vk_use_level. A thread that reads it meanwhile gets one level or the other for each call.
static const kernels *_Atomic chosen = &baseline;

static const kernels *at_level(int level) {
    if (level == 1) return &baseline;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (level == 3 && __builtin_cpu_supports("x86-64-v3")) return &level_3;
    if (level == 4 && __builtin_cpu_supports("x86-64-v4")) return &level_4;
#endif
    return NULL;
}

int vk_use_level(int level) {
    const kernels *const wanted = at_level(level);
    if (wanted) atomic_store_explicit(&chosen, wanted, memory_order_relaxed);
    return wanted != NULL;
}

// A program's user may lower it, to compare levels or to record for another machine: DUPLEXVOICE_KERNELS=x86-64-v3.
__attribute__((constructor)) static void use_first(void) {
    static const struct {
        const char *name;
        int level;
    } names[] = {{"x86-64", 1}, {"x86-64-v3", 3}, {"x86-64-v4", 4}};
    const char *const wanted = getenv("DUPLEXVOICE_KERNELS");
    for (size_t i = 0; wanted && i < sizeof names / sizeof *names; i++)
        if (strcmp(wanted, names[i].name) == 0 && vk_use_level(names[i].level)) return;
    (void)(vk_use_level(4) || vk_use_level(3));
}

int vk_level(void) {
    const kernels *const now = atomic_load_explicit(&chosen, memory_order_relaxed);
    for (int level = 4; level > 1; level--)
        if (now == at_level(level)) return level;
    return 1;
}

#define CALL_CHOSEN(result, name, parameters, arguments) \
    result name parameters { return atomic_load_explicit(&chosen, memory_order_relaxed)->name arguments; }
VK_KERNELS(CALL_CHOSEN)
