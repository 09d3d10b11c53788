#define NUSTREAM_KERNEL run_avx512
#include "descent/kernel_body.h"
