// Counts work: every edge of the control flow that instrumented code takes (SanitizerCoverage's trace-pc), not the time that it takes.
#include <stdint.h>

static uint64_t edges;

// libFuzzer rewards inputs that reach a new value here, so that it searches for what is expensive and not for new code alone.
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t levels[256];

// The linker puts this in the place of libFuzzer's own, which is empty.
void __wrap___sanitizer_cov_trace_pc(void) { edges++; }

uint64_t fuzz_edges(void) { return edges; }

// Steps of an eighth of a power of two.
void fuzz_reward(uint64_t cost) {
    if (cost < 8) return;
    const int power = 63 - __builtin_clzll(cost);
    const int level = power * 8 + (int)(cost >> (power - 3) & 7);
    levels[level < 256 ? level : 255] = 1;
}
