#define NUSTREAM_SUM_KERNEL avx512
#include "moments/sum_kernel_body.h"
