// The kernels of running sums for AVX-512. The code is in sum_kernel_body.h; sources.cmake gives this file its flags.
#define NUSTREAM_SUM_KERNEL avx512
#include "moments/sum_kernel_body.h"
