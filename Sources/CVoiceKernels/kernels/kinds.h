// Includes TEMPLATE for each kind of products that this level has: with VNNI, where a processor may have it, and without. It names what it makes
// by KIND(name), for TARGET, with PRODUCTS(sums, u, s).

#if defined(VNNI)
#define KIND(name) name##_vnni
#define TARGET WITH_VNNI FULL_WIDTH
#define PRODUCTS ADD_VNNI
#include TEMPLATE
#undef KIND
#undef TARGET
#undef PRODUCTS
#endif

#define KIND(name) name##_plain
#define TARGET AT_LEVEL FULL_WIDTH
#define PRODUCTS ADD
#include TEMPLATE
#undef KIND
#undef TARGET
#undef PRODUCTS
#undef TEMPLATE
