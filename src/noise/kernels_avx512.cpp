// The loops for AVX-512. CMake adds -mavx512f and its companions to this file alone.
#include "kernel_gaussian.h"
#include "kernel_recurrent.h"
#include "kernel_round.h"
#include "kernels.h"

namespace nustream::noise {

const Kernels kernels_avx512{gaussian_kernel, round_kernel, recurrent_kernel};

}  // namespace nustream::noise
