// The share of clipped gradients: unbiased from noisy sums, with the exact deviation of its noise, and whether it is
// large. All of it is computed from numbers that the release may show.
#include "publish/clipped.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace nustream::publish {
namespace {

/// The standard normal's upper quantile at large_clipped_false_alarm.
constexpr double upper_quantile = 1.6448536269514722;

}  // namespace

// The count is a plain sum that forgets nothing, so that a step keeps all of the sums before it: κ = 1.
ClippedDesign::ClippedDesign(const noise::Correlation& correlation, NoiseStddev stddev, std::uint64_t minibatch)
    : noise_(correlation, 1), minibatch_(static_cast<double>(minibatch)), of_a_step_(stddev.value() / minibatch_) {}

double ClippedDesign::stddev(StepCount since, StepCount steps) const {
  // The stretch is one stage of the noise: what correlated noise leaves in the sum of its steps follows from B alone.
  const std::array<std::uint64_t, 1> first{since.value()};
  const double variance = noise_.covariance(first, steps).front();
  return std::sqrt(variance) * of_a_step_ / static_cast<double>(steps.value() - since.value());
}

std::optional<ClippedShare> ClippedDesign::share_of(const lane::Release& release) const {
  if (!release.clipped) return std::nullopt;
  const StepCount since = release.clipped->since;
  // The nominal number of records, usable or not. The true number of usable ones depends on data.
  const double records = static_cast<double>(release.steps.value() - since.value()) * minibatch_;
  ClippedShare shown{release.clipped->sum / records, stddev(since, release.steps), since.value(), false};
  // One-sided: at a share of exactly 5% noise exceeds this with the probability large_clipped_false_alarm.
  shown.is_large = shown.share - upper_quantile * shown.stddev > large_clipped_share;
  return shown;
}

void append_clipped(const ClippedShare& clipped, JsonWriter& json) {
  const auto object = json.object("clipped");
  json.field("share", clipped.share);
  json.field("sd", clipped.stddev);
  json.field("since", clipped.since);
  json.field("large", clipped.is_large);
  json.field("false_alarm", large_clipped_false_alarm);
}

std::string in_words(const ClippedShare& clipped) {
  // Noise may take a small share below 0.
  const double tenths = std::max(0.0, std::round(1000 * clipped.share));
  const std::string share =
      fmt::format("{:.1f}% of records had a gradient that was clipped, after step {} (noise: sd {:.1f}%)",
                  tenths / 10, clipped.since, 100 * clipped.stddev);
  if (!clipped.is_large) return share;
  return share + ": that pulls the estimate to another point, which intervals cover; take a larger clip_norm";
}

}  // namespace nustream::publish
