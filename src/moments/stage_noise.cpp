// The covariances of the noise in the sums of stages: by the recurrence of recurrent_stages.h where the correlation
// has one, otherwise from a table of its coefficients. Both give the same numbers up to rounding, and both are
// functions of public settings and step counts.
#include "nustream/moments/stage_noise.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/shown.h"
#include "moments/recurrent_stages.h"
#include "noise/recurrence.h"
#include "nustream/base/error.h"

namespace nustream::moments {
namespace {

/// The table takes 32 MiB at this length, and the sum over it has a product for each step and pair of stages.
constexpr std::uint64_t longest_table = std::uint64_t{1} << 22U;

/// The covariances from the coefficients. The seed noise w_u enters N_i of stage i = [f, e) with the factor
/// κ^{t−e}(R_{e−1−u} − κ^{e−f} R_{f−1−u}), where R are the κ-weighted sums of β.
class TabledStages {
 public:
  TabledStages(noise::Correlation correlation, double kept) : correlation_(std::move(correlation)), kept_(kept) {}

  [[nodiscard]] std::vector<double> covariance(std::span<const std::uint64_t> firsts, std::uint64_t steps) {
    extend(steps);
    const std::size_t count = firsts.size();
    // The weights' products are many and of both signs, so they are added up with more digits.
    std::vector<long double> products(count * count);
    std::vector<double> weights(count);
    for (std::uint64_t u = 0; u < steps; ++u) {
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t end = i + 1 < count ? firsts[i + 1] : steps;
        weights[i] = power(steps - end) * (sum_before(end, u) - power(end - firsts[i]) * sum_before(firsts[i], u));
      }
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j <= i; ++j)
          products[i * count + j] += static_cast<long double>(weights[i]) * weights[j];
      }
    }
    std::vector<double> all(count * count);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j <= i; ++j)
        all[i * count + j] = all[j * count + i] = static_cast<double>(products[i * count + j]);
    }
    return all;
  }

 private:
  // The table is doubled at least, so that it is seldom built anew where one step after another is asked for.
  void extend(std::uint64_t steps) {
    if (steps <= sums_.size()) return;
    if (steps > longest_table) {
      throw Unsupported("the noise in sums over " + std::to_string(steps) + " steps: use a rational correlation");
    }
    const auto length =
        static_cast<std::size_t>(std::min(std::max<std::uint64_t>(2 * sums_.size(), steps), longest_table));
    sums_ = noise::noise_coefficients(correlation_, length);
    // R_t = β_t + κR_{t−1}: how much of w_u is, after step u + t, in a sum that began no later than u.
    for (std::size_t t = 1; t < length; ++t) sums_[t] += kept_ * sums_[t - 1];
  }
  [[nodiscard]] double power(std::uint64_t steps) const {
    return kept_ == 1 ? 1 : std::pow(kept_, static_cast<double>(steps));
  }
  // How much of w_u is in a sum of everything up to step end − 1; nothing if w_u comes later.
  [[nodiscard]] double sum_before(std::uint64_t end, std::uint64_t u) const {
    return u < end ? sums_[end - 1 - u] : 0;
  }

  noise::Correlation correlation_;
  double kept_;
  std::vector<double> sums_;
};

}  // namespace

class StageNoise::Impl {
 public:
  Impl(const noise::Correlation& correlation, double kept) : correlation_(correlation), tabled_(correlation, kept) {
    // Independent, rational and damped anti-PGD noise follow from a few states; other correlations from their
    // coefficients.
    if (const auto recurrence = noise::recurrence_of(correlation)) recurrent_.emplace(*recurrence, kept);
  }

  [[nodiscard]] std::vector<double> covariance(std::span<const std::uint64_t> firsts, std::uint64_t steps) {
    if (!correlation_.toeplitz()) {
      throw Unsupported("sums under the correlation " + correlation_.name() + ": use one that is Toeplitz");
    }
    if (const auto horizon = correlation_.horizon(); horizon && steps > horizon->value()) {
      throw Unsupported("the noise of more steps than the correlation's horizon");
    }
    return recurrent_ ? recurrent_->covariance(firsts, steps) : tabled_.covariance(firsts, steps);
  }

 private:
  noise::Correlation correlation_;
  TabledStages tabled_;
  std::optional<RecurrentStages> recurrent_;
};

StageNoise::StageNoise(const noise::Correlation& correlation, double kept) {
  const bool in_range = kept > 0 && kept <= 1;  // false for a NaN, too
  if (!in_range) throw InvalidParameter("kept", shown(kept), "a number > 0 and <= 1");
  impl_ = std::make_unique<Impl>(correlation, kept);
}
StageNoise::~StageNoise() = default;
StageNoise::StageNoise(StageNoise&&) noexcept = default;
StageNoise& StageNoise::operator=(StageNoise&&) noexcept = default;

std::vector<double> StageNoise::covariance(std::span<const std::uint64_t> firsts, StepCount steps) const {
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    NUSTREAM_REQUIRE(firsts[i] < steps.value(), "a stage has a step");
    NUSTREAM_REQUIRE(i == 0 || firsts[i - 1] < firsts[i], "stages follow each other");
  }
  return impl_->covariance(firsts, steps.value());
}

}  // namespace nustream::moments
