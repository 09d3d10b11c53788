// The private count of clipped gradients, as a release tells it: a function of the count's noisy sums, public
// settings and step counts alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "nustream/base/units.h"
#include "nustream/lane/lane.h"
#include "nustream/moments/stage_noise.h"
#include "nustream/noise/correlation.h"
#include "publish/json_writer.h"

namespace nustream::publish {

/// How many of the records since some step had a clipped gradient.
struct ClippedShare {
  double share;         ///< unbiased: below 0 or above 1 where noise makes it so
  double stddev;        ///< of the noise in it, exact
  std::uint64_t since;  ///< the share is over the steps after this one
  bool is_large;        ///< above large_clipped_share by more than the noise explains
};

/// Clipping pulls an estimate to another point. Where no more than this share is clipped, that pull is mostly hidden.
inline constexpr double large_clipped_share = 0.05;
/// How often a stretch with exactly that share is called large.
inline constexpr double large_clipped_false_alarm = 0.05;

/// How the count's noise is made. Keeps what it computed last: not thread-safe.
class ClippedDesign {
 public:
  ClippedDesign(const noise::Correlation& correlation, NoiseStddev stddev, std::uint64_t minibatch);

  /// Nothing where the release has no count.
  [[nodiscard]] std::optional<ClippedShare> share_of(const lane::Release& release) const;
  /// The noise in the share of the records of the steps after `since`, up to `steps`. Throws as moments::StageNoise.
  [[nodiscard]] double stddev(StepCount since, StepCount steps) const;

 private:
  moments::StageNoise noise_;
  double minibatch_;
  double of_a_step_;  // σΔ/m
};

/// Writes "clipped":{"share":…,"sd":…,"since":…,"large":…,"false_alarm":…}
void append_clipped(const ClippedShare& clipped, JsonWriter& json);

/// A sentence for people.
[[nodiscard]] std::string in_words(const ClippedShare& clipped);

}  // namespace nustream::publish
