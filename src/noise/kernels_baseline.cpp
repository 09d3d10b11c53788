// The loops for the instructions that every processor of the architecture has.
#include "kernel_gaussian.h"
#include "kernel_recurrent.h"
#include "kernel_round.h"
#include "kernels.h"

namespace nustream::noise {

const Kernels kernels_baseline{gaussian_kernel, round_kernel, recurrent_kernel};

}  // namespace nustream::noise
