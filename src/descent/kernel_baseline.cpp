// The inner loops for any processor of the architecture. On x86-64 the faster ones stand beside them.
#define NUSTREAM_KERNEL run_baseline
#include "descent/kernel_body.h"
#define NUSTREAM_TWO_STAGE_KERNEL run_two_stage_baseline
#include "descent/two_stage_body.h"
