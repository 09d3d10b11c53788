#define NUSTREAM_KERNEL run_avx2
#include "descent/kernel_body.h"
