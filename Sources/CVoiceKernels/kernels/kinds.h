// Includes TEMPLATE for each kind of products that this level has: with VNNI, where a processor may have it, and without. It names what it makes
// by KIND(name), for TARGET, with PRODUCTS(sums, u, s).

#if defined(VNNI)
#define KIND(name) name##_vnni
#if VK_LEVEL == 4
#define TARGET __attribute__((target("arch=x86-64-v4,avx512vnni"), min_vector_width(512)))
#else
#define TARGET FOR("arch=x86-64-v3,avxvnni")
#endif
#define PRODUCTS ADD_VNNI
#include TEMPLATE
#undef KIND
#undef TARGET
#undef PRODUCTS
#endif

#define KIND(name) name##_plain
#if VK_LEVEL == 4
#define TARGET __attribute__((target("arch=x86-64-v4"), min_vector_width(512)))
#else
#define TARGET AT_LEVEL
#endif
#define PRODUCTS ADD
#include TEMPLATE
#undef KIND
#undef TARGET
#undef PRODUCTS
#undef TEMPLATE
