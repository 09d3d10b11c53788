// The kernels of running sums for AVX2. The code is in sum_kernel_body.h; sources.cmake gives this file its flags.
#define NUSTREAM_SUM_KERNEL avx2
#include "moments/sum_kernel_body.h"
