// Private histograms: exact integer counts, or the shortened counts of users, with noise on a grid. A row has at most
// one bin in each of m histograms, so its counts are a vector of length √m at most, and Δ follows from that.
#include "nustream/ranges/histogram.h"

#include <algorithm>
#include <cmath>

#include "descent/private_step.h"
#include "nustream/base/error.h"
#include "nustream/privacy/zcdp.h"

namespace nustream::ranges {
namespace {

/// σΔ of a release that costs ρ: γ = 1, since it is released once.
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

UserCounts::UserCounts(const CountNoise& mechanism)
    : mechanism_(mechanism), own_(mechanism.design().entries()), sums_(own_.size()) {}

void UserCounts::add(std::span<const std::size_t> bins) noexcept {
  const HistogramDesign& design = mechanism_.design();
  NUSTREAM_REQUIRE(bins.size() == design.histograms, "a row has one bin in each histogram");
  for (std::size_t histogram = 0; histogram < bins.size(); ++histogram) {
    if (bins[histogram] == no_bin) continue;
    NUSTREAM_REQUIRE(bins[histogram] < design.bins, "a bin is one of the histogram's");
    const std::size_t entry = histogram * design.bins + bins[histogram];
    if (own_[entry]++ == 0) met_.push_back(entry);
  }
}

void UserCounts::end_user() noexcept {
  const auto allowed = static_cast<double>(mechanism_.design().histograms);
  double squares = 0;
  for (const std::size_t entry : met_) squares += static_cast<double>(own_[entry]) * static_cast<double>(own_[entry]);
  double share = 1;
  // Squares up to m are whole numbers that a double holds exactly. Where there are more, what the roundings of sum,
  // roots and products may come to is taken off the share, as descent/clip.h does.
  if (squares > allowed) {
    const double roundoff = (static_cast<double>(met_.size()) + 16) * 0x1p-53;
    share = descent::share_within(std::sqrt(squares), std::sqrt(allowed)) * (1 - roundoff);
  }
  const double units = share / mechanism_.grid().spacing();
  for (const std::size_t entry : met_) {
    sums_[entry] += descent::on_grid(units, static_cast<double>(own_[entry]));
    own_[entry] = 0;
  }
  met_.clear();
}

NoisyCounts::NoisyCounts(const UserCounts& counts, std::span<const std::int64_t> noise)
    : design_(counts.mechanism_.design()),
      stddev_(counts.mechanism_.stddev().value()),
      rows_(0),
      are_of_users_(true) {
  add_noise(counts.sums_, counts.mechanism_, noise);
  rows_ = static_cast<std::uint64_t>(most_in_a_histogram());
}

/// The largest noisy sum of the counts of a histogram, at least 0.
double NoisyCounts::most_in_a_histogram() const {
  double most = 0;
  for (std::size_t index = 0; index < design_.histograms; ++index) {
    double sum = 0;
    for (const double count : histogram(index)) sum += count;
    most = std::max(most, sum);
  }
  return most;
}

NoisyCounts::NoisyCounts(const ExactCounts& counts, const CountNoise& mechanism, std::span<const std::int64_t> noise)
    : design_(mechanism.design()), stddev_(mechanism.stddev().value()), rows_(counts.rows_) {
  NUSTREAM_REQUIRE(counts.design_ == design_, "counts are of the mechanism's design");
  // The spacing is a power of two of at most 1, so this is a whole number.
  const auto units = static_cast<descent::WideUnits>(1 / mechanism.grid().spacing());
  std::vector<descent::WideUnits> exact;
  exact.reserve(counts.counts_.size());
  for (const std::uint64_t count : counts.counts_) exact.push_back(descent::WideUnits{count} * units);
  add_noise(exact, mechanism, noise);
}

void NoisyCounts::add_noise(std::span<const descent::WideUnits> exact, const CountNoise& mechanism,
                            std::span<const std::int64_t> noise) {
  NUSTREAM_REQUIRE(exact.size() == noise.size(), "every count has its own noise");
  counts_.reserve(noise.size());
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const descent::WideUnits added = noise[i];
    counts_.push_back(descent::add_noise(exact[i], added) * mechanism.grid().spacing());
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
