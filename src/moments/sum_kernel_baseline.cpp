#define NUSTREAM_SUM_KERNEL baseline
#include "moments/sum_kernel_body.h"
