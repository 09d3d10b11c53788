// Several histograms over the same rows, which are counted exactly and released once with noise. This is the only way
// from rows to a private setting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/descent/clipped_count.h"
#include "nustream/noise/grid.h"
#include "nustream/privacy/participation.h"

namespace nustream::ranges {

/// What is counted. It is public.
struct HistogramDesign {
  std::size_t histograms = 1;  ///< m; a row has at most one count in each of them
  std::size_t bins = 1;        ///< of each histogram
  privacy::Adjacency adjacency = privacy::Adjacency::zero_out;

  [[nodiscard]] std::size_t entries() const noexcept { return histograms * bins; }
  friend bool operator==(const HistogramDesign&, const HistogramDesign&) = default;
};
/// Throws InvalidParameter for no histograms or no bins.
void check(const HistogramDesign& design);

/// Δ: how far one record can move all counts together, in ℓ2.
///
/// Guarantee: √m under zero-out, where a record takes one count out of each histogram; √(2m) under replace-one, where
/// it moves one count of each histogram from one bin to another. Both are reached. For units of several records the
/// bound holds of UserCounts, which shorten what a user adds.
[[nodiscard]] Displacement displacement(const HistogramDesign& design);

/// One release of the counts at `rho`, with γ = 1: it happens once, so nothing is correlated.
class CountNoise {
 public:
  /// Throws InvalidParameter for ρ = 0, and where the noise leaves the range of the grid.
  CountNoise(const HistogramDesign& design, Rho rho);

  [[nodiscard]] const HistogramDesign& design() const noexcept { return design_; }
  /// The standard deviation of a count's noise, Δ/√(2ρ).
  [[nodiscard]] NoiseStddev stddev() const noexcept { return stddev_; }
  /// The grid that the noise is rounded to.
  [[nodiscard]] const noise::Grid& grid() const noexcept { return grid_; }

 private:
  HistogramDesign design_;
  NoiseStddev stddev_;
  noise::Grid grid_;
};

/// Stands in place of a bin where a row has no count in a histogram.
inline constexpr std::size_t no_bin = static_cast<std::size_t>(-1);

/// The exact counts. They are private, and nothing that is released contains them except NoisyCounts.
class ExactCounts {
 public:
  explicit ExactCounts(const HistogramDesign& design);
  /// Adds one row by its bin in each histogram, or no_bin. There must be as many entries as histograms, each in
  /// range.
  void add(std::span<const std::size_t> bins) noexcept;

 private:
  friend class NoisyCounts;
  HistogramDesign design_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t rows_ = 0;
};

/// The counts where the unit of privacy is the user: all counts of a user are summed, and together shortened to a
/// length of at most √m. A user whose counts are no longer than that, such as one with a single row, adds them whole.
///
/// Guarantee: what a user adds is at most √m/s long in units of the mechanism's grid (s its spacing), in exact
/// arithmetic, whatever the user's rows hold and however many there are. No entry of it is negative. So the bounds of
/// displacement() hold: taking a user out moves the sums by at most √m/s, and putting another one in its place by at
/// most √(2m)/s, since ‖u − v‖² ≤ ‖u‖² + ‖v‖² where ⟨u, v⟩ ≥ 0.
class UserCounts {
 public:
  explicit UserCounts(const CountNoise& mechanism);
  /// Adds one row of the user whose turn it is, as ExactCounts::add().
  void add(std::span<const std::size_t> bins) noexcept;
  /// Ends that user's turn: what the user adds is shortened, truncated to the grid, and summed.
  void end_user() noexcept;

  /// The sums over all users whose turn has ended, in units of the mechanism's grid. They are private.
  [[nodiscard]] std::span<const descent::WideUnits> sums() const noexcept { return sums_; }

 private:
  friend class NoisyCounts;
  CountNoise mechanism_;
  std::vector<std::uint64_t> own_;  ///< the counts of the user whose turn it is
  std::vector<std::size_t> met_;    ///< which of them are not 0
  std::vector<descent::WideUnits> sums_;
};

/// What a release shows of a part. Functions that choose settings take these and public figures, and nothing else.
///
/// Guarantee: ρ-zCDP for the record, or for the user of UserCounts (Bun and Steinke 2016, Proposition 1.6), with the
/// ρ of the CountNoise, if the noise is drawn on its grid and used for nothing else. The number of rows is public.
class NoisyCounts {
 public:
  /// `noise` holds entries() integers of the grid. The process ends where sizes disagree.
  NoisyCounts(const ExactCounts& counts, const CountNoise& mechanism, std::span<const std::int64_t> noise);
  NoisyCounts(const UserCounts& counts, std::span<const std::int64_t> noise);

  [[nodiscard]] std::size_t histograms() const noexcept { return design_.histograms; }
  [[nodiscard]] std::size_t bins() const noexcept { return design_.bins; }
  [[nodiscard]] std::span<const double> histogram(std::size_t index) const {
    return std::span(counts_).subspan(index * design_.bins, design_.bins);
  }
  /// The standard deviation of a count's noise.
  [[nodiscard]] double stddev() const noexcept { return stddev_; }
  /// How many rows the part has, usable or not. Where the unit is the user, the counts of busy users are shortened,
  /// so that the number of rows is no measure for them. In its place stands the noisy sum of the counts of a
  /// histogram, of the one that has most.
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  /// Whether rows() is that noisy sum, which may be 0 where single bins show.
  [[nodiscard]] bool are_of_users() const noexcept { return are_of_users_; }
  /// Adds the counts of another part under the same design; the variances of the noise add up. Histograms and bins
  /// must agree.
  void add(const NoisyCounts& other);

 private:
  void add_noise(std::span<const descent::WideUnits> exact, const CountNoise& mechanism,
                 std::span<const std::int64_t> noise);
  [[nodiscard]] double most_in_a_histogram() const;

  HistogramDesign design_;
  std::vector<double> counts_;
  double stddev_;
  std::uint64_t rows_;
  bool are_of_users_ = false;
};

}  // namespace nustream::ranges
