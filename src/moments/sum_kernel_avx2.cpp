#define NUSTREAM_SUM_KERNEL avx2
#include "moments/sum_kernel_body.h"
