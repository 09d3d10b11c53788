#include "decode/csv_kernel.h"

#include <vector>

#include "decode/csv_kernel_list.h"

namespace nustream::decode {

std::span<const CsvKernel> csv_kernels() {
  static const std::vector<CsvKernel> kernels = [] {
    std::vector<CsvKernel> available{portable_csv_kernel()};
    for (const auto& kernel : {sse4_csv_kernel(), avx2_csv_kernel(), avx512_csv_kernel()}) {
      if (kernel) available.push_back(*kernel);
    }
    return available;
  }();
  return kernels;
}

}  // namespace nustream::decode
