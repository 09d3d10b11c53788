#include "nustream/ranges/histogram.h"

#include <cmath>

#include "descent/private_step.h"
#include "nustream/base/error.h"
#include "nustream/privacy/zcdp.h"

namespace nustream::ranges {
namespace {

NoiseStddev stddev_of(const HistogramDesign& design, Rho rho) {
  check(design);
  return noise_stddev(privacy::multiplier_for(Sensitivity{1}, rho), displacement(design));
}

}  // namespace

void check(const HistogramDesign& design) {
  if (design.histograms == 0) throw InvalidParameter("histograms", "0", "at least 1");
  if (design.bins == 0) throw InvalidParameter("bins", "0", "at least 1");
}

Displacement displacement(const HistogramDesign& design) {
  const bool replaces = design.adjacency == privacy::Adjacency::replace_one;
  const auto histograms = static_cast<double>(design.histograms);
  // The next number up, because the root is rounded to nearest and Δ must not be too small.
  return Displacement{std::nextafter(std::sqrt(histograms * (replaces ? 2 : 1)), HUGE_VAL)};
}

CountNoise::CountNoise(const HistogramDesign& design, Rho rho)
    : design_(design), stddev_(stddev_of(design, rho)), grid_(stddev_, 1, ClipNorm{1}) {
  // With a spacing of at most 1, a power of two, a count of one is a whole number of spacings.
  if (!(grid_.spacing() <= 1)) throw InvalidParameter("rho", "so small that counts drown", "noise below 2^32 counts");
}

ExactCounts::ExactCounts(const HistogramDesign& design) : design_(design), counts_(design.entries()) {
  check(design);
}

void ExactCounts::add(std::span<const std::size_t> bins) noexcept {
  NUSTREAM_REQUIRE(bins.size() == design_.histograms, "a row has one bin in each histogram");
  ++rows_;
  for (std::size_t histogram = 0; histogram < bins.size(); ++histogram) {
    if (bins[histogram] == no_bin) continue;
    NUSTREAM_REQUIRE(bins[histogram] < design_.bins, "a bin is one of the histogram's");
    ++counts_[histogram * design_.bins + bins[histogram]];
  }
}

NoisyCounts::NoisyCounts(const ExactCounts& counts, const CountNoise& mechanism, std::span<const std::int64_t> noise)
    : design_(mechanism.design()), stddev_(mechanism.stddev().value()), rows_(counts.rows_) {
  NUSTREAM_REQUIRE(counts.design_ == design_, "counts are of the mechanism's design");
  NUSTREAM_REQUIRE(counts.counts_.size() == noise.size(), "every count has its own noise");
  const double spacing = mechanism.grid().spacing();
  const auto units = static_cast<descent::WideUnits>(1 / spacing);
  counts_.reserve(noise.size());
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const descent::WideUnits added = noise[i];
    const descent::WideUnits exact = descent::WideUnits{counts.counts_[i]} * units;
    counts_.push_back(descent::add_noise(exact, added) * spacing);
  }
}

void NoisyCounts::add(const NoisyCounts& other) {
  NUSTREAM_REQUIRE(other.counts_.size() == counts_.size() && other.design_.bins == design_.bins,
                   "counts of one design add up");
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  stddev_ = std::hypot(stddev_, other.stddev_);
  rows_ += other.rows_;
}

}  // namespace nustream::ranges
