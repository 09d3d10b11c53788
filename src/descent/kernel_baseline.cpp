#define NUSTREAM_KERNEL run_baseline
#include "descent/kernel_body.h"
