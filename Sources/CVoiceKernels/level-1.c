// The kernels for the baseline: on x86-64 its first level, elsewhere what the machine has.

#define VK_LEVEL 1
#include "kernels/alone.c"
#include "kernels/bins.c"
#include "kernels/convolution.c"
#include "kernels/dense.c"
#include "kernels/filter.c"
#include "kernels/fourier.c"
#include "kernels/history.c"
#include "kernels/network.c"
#include "kernels/transform.c"
