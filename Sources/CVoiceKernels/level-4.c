// The kernels for x86-64-v4: AVX-512.

#if defined(__x86_64__)
#define VK_LEVEL 4
#include "kernels/alone.c"
#include "kernels/bins.c"
#include "kernels/convolution.c"
#include "kernels/dense.c"
#include "kernels/filter.c"
#include "kernels/fourier.c"
#include "kernels/history.c"
#include "kernels/network.c"
#include "kernels/transform.c"
#endif
