// The inner loops for AVX-512. The build adds the flags for it to this file alone (src/descent/sources.cmake).
#define NUSTREAM_KERNEL run_avx512
#include "descent/kernel_body.h"
#define NUSTREAM_TWO_STAGE_KERNEL run_two_stage_avx512
#include "descent/two_stage_body.h"
