// The inner loops for AVX2. The build adds -mavx2 to this file alone (src/descent/sources.cmake).
#define NUSTREAM_KERNEL run_avx2
#include "descent/kernel_body.h"
#define NUSTREAM_TWO_STAGE_KERNEL run_two_stage_avx2
#include "descent/two_stage_body.h"
