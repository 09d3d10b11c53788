// What one row adds to the sums of a batch, compiled once for each instruction set; private to the moments room.
//
// sum_kernel_body.h holds the code, and sum_kernel_{baseline,avx2,avx512}.cpp compile it with different flags. All of
// them run the same IEEE operations for every entry, so that the sums are the same integers on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nustream::moments::kernel {

/// The kernels of one instruction set. `u` is packed (nustream/descent/packed.h), with zeros behind its d entries,
/// and so is each of several rows u_k, one behind the other. Other vectors are not.
struct Variant {
  std::size_t lanes;  ///< how many sums an instruction adds to; OpenLayout depends on it
  /// Σ v_j².
  double (*squares)(const double* v, std::size_t d);
  /// Sets u ← factor·v, and returns Σ u_j θ_j.
  double (*scaled_product)(const double* v, std::size_t d, double factor, const double* theta, double* u);
  /// Adds Σ_k trunc(units_k·u_k), with terms within ±2^51, to sums, a vector of d entries.
  void (*add_vectors)(const double* u, std::size_t rows, std::size_t d, const double* units, std::int64_t* sums);
  /// Adds Σ_k trunc(units_k·u_k u_kᵀ), with off-diagonal entries times √2 and terms within ±2^51, to sums, an outer
  /// product of d entries. `scaled` is memory for as many rows as u has.
  void (*add_outers)(const double* u, std::size_t rows, std::size_t d, const double* units, double* scaled,
                     std::int64_t* sums);
};

/// The variants that this machine can run, the preferred one first.
[[nodiscard]] std::span<const Variant> variants();

}  // namespace nustream::moments::kernel
