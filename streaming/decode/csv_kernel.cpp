#include "decode/csv_kernel.h"

#include <vector>

#include "decode/csv_kernel_list.h"

namespace nustream::decode {

std::span<const CsvKernel> csv_kernels() {
  static const std::vector<CsvKernel> kernels = [] {
    std::vector<CsvKernel> available{portable_csv_kernel()};
    return available;
  }();
  return kernels;
}

}  // namespace nustream::decode
