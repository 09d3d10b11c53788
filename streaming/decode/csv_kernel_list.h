// The kernels that exist; private to csv_kernel.cpp.
#pragma once

#include <optional>

#include "decode/csv_kernel.h"

namespace nustream::decode {

[[nodiscard]] CsvKernel portable_csv_kernel();

// Each is empty where the processor or the compiler's target lacks its instructions.
[[nodiscard]] std::optional<CsvKernel> sse4_csv_kernel();
[[nodiscard]] std::optional<CsvKernel> avx2_csv_kernel();
[[nodiscard]] std::optional<CsvKernel> avx512_csv_kernel();

}  // namespace nustream::decode
