// The kernels of running sums for any machine. The code is in sum_kernel_body.h, compiled here without special flags.
#define NUSTREAM_SUM_KERNEL baseline
#include "moments/sum_kernel_body.h"
