// The loops for AVX2. CMake adds -mavx2 to this file alone.
#include "kernel_gaussian.h"
#include "kernel_recurrent.h"
#include "kernel_round.h"
#include "kernels.h"

namespace nustream::noise {

const Kernels kernels_avx2{gaussian_kernel, round_kernel, recurrent_kernel};

}  // namespace nustream::noise
