// The kernels there are; private to csv_kernel.cpp.
#pragma once

#include "decode/csv_kernel.h"

namespace nustream::decode {

[[nodiscard]] CsvKernel portable_csv_kernel();

}  // namespace nustream::decode
