// Several histograms over the same rows, counted exactly and released once with noise: the only way from rows to a
// private setting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/noise/grid.h"
#include "nustream/privacy/participation.h"

namespace nustream::ranges {

/// What is counted: public.
struct HistogramDesign {
  std::size_t histograms = 1;  ///< m: of a row, one count in each of them at most
  std::size_t bins = 1;        ///< of each
  privacy::Adjacency adjacency = privacy::Adjacency::zero_out;

  [[nodiscard]] std::size_t entries() const noexcept { return histograms * bins; }
  friend bool operator==(const HistogramDesign&, const HistogramDesign&) = default;
};
/// Throws InvalidParameter for no histograms or no bins.
void check(const HistogramDesign& design);

/// Δ: how far one record can move all counts together, ℓ2.
///
/// Guarantee: √m under zero-out, where a record takes one count out of each histogram; √(2m) under replace-one, where
/// it moves one count of each from one bin to another. Both are reached. For one record a unit: of a unit with
/// several records in the part it is the bound of one record times their number.
[[nodiscard]] Displacement displacement(const HistogramDesign& design);

/// One release of the counts, γ = 1 (no correlation: it happens once), at `rho`.
class CountNoise {
 public:
  /// Throws InvalidParameter for ρ = 0, and where the noise leaves the grid's range.
  CountNoise(const HistogramDesign& design, Rho rho);

  [[nodiscard]] const HistogramDesign& design() const noexcept { return design_; }
  /// Standard deviation of a count's noise: Δ/√(2ρ).
  [[nodiscard]] NoiseStddev stddev() const noexcept { return stddev_; }
  /// What the noise is rounded on.
  [[nodiscard]] const noise::Grid& grid() const noexcept { return grid_; }

 private:
  HistogramDesign design_;
  NoiseStddev stddev_;
  noise::Grid grid_;
};

/// In place of a bin where a row has no count in a histogram.
inline constexpr std::size_t no_bin = static_cast<std::size_t>(-1);

/// Exact counts: private, and in nothing that is released but through NoisyCounts.
class ExactCounts {
 public:
  explicit ExactCounts(const HistogramDesign& design);
  /// One row: its bin in each histogram, or no_bin. Contract: as many entries as histograms, each in range.
  void add(std::span<const std::size_t> bins) noexcept;

 private:
  friend class NoisyCounts;
  HistogramDesign design_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t rows_ = 0;
};

/// What a release shows of a part. Functions that choose settings take this, public figures, and nothing else.
///
/// Guarantee: ρ-zCDP for the record (Bun and Steinke 2016, Proposition 1.6), with the ρ of the CountNoise and noise
/// that is drawn on its grid, used for nothing else. The number of rows is public.
class NoisyCounts {
 public:
  /// `noise`: entries() integers of the grid. Contract: sizes agree.
  NoisyCounts(const ExactCounts& counts, const CountNoise& mechanism, std::span<const std::int64_t> noise);

  [[nodiscard]] std::size_t histograms() const noexcept { return design_.histograms; }
  [[nodiscard]] std::size_t bins() const noexcept { return design_.bins; }
  [[nodiscard]] std::span<const double> histogram(std::size_t index) const {
    return std::span(counts_).subspan(index * design_.bins, design_.bins);
  }
  /// Standard deviation of a count.
  [[nodiscard]] double stddev() const noexcept { return stddev_; }
  /// Of the part, usable or not.
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  /// These counts and those of another part under the same design: noise adds up as variances do. Contract: the same
  /// histograms and bins.
  void add(const NoisyCounts& other);

 private:
  HistogramDesign design_;
  std::vector<double> counts_;
  double stddev_;
  std::uint64_t rows_;
};

}  // namespace nustream::ranges
