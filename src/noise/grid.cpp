// Chooses the public grid of a stage from σΔ, the correlation and G, and refuses settings whose numbers would not fit
// into it. docs/formats/noise.md (Grid) has the rule for the spacing.
#include "nustream/noise/grid.h"

#include <cmath>
#include <limits>
#include <string>

#include "base/shown.h"
#include "kernels.h"
#include "nustream/base/error.h"
#include "nustream/noise/gaussian.h"

namespace nustream::noise {
namespace {

// Half of 2^52: it leaves room for one integer sum, and for rounding by adding 1.5·2^52.
constexpr double units_max = 0x1p51;
// More standard deviations than any stream will see (a seed sample ends at 9.5). A value beyond them would saturate.
constexpr double deviations_max = 40;

}  // namespace

Grid::Grid(NoiseStddev noise, double largest, ClipNorm clip) {
  // The spacing is a power of two, so that scaling by it is exact.
  const int exponent = std::ilogb(noise.value()) - 32;
  if (exponent < std::numeric_limits<double>::min_exponent - 1) {
    throw InvalidParameter("noise_stddev", shown(noise.value()),
                           "at least 2^-990, or the spacing is no normal number");
  }
  // s lies between σΔ·2^-33 and σΔ·2^-32: far below the noise, so that rounding to the grid costs no accuracy.
  spacing_ = std::ldexp(1.0, exponent);
  inverse_spacing_ = std::ldexp(1.0, -exponent);
  scale_ = noise.value() * inverse_spacing_;
  // The clip aims a little below G, so that no rounding of a norm leads beyond G, for which the noise is scaled.
  clip_radius_ = clip.value() * (1 - 0x1p-48);
  // With σΔ = 1, for example, s is 2^-32, and G has to be below 2^19.
  if (!(clip.value() * inverse_spacing_ < units_max)) {
    throw InvalidParameter("clip_norm", shown(clip.value()),
                           "less than 2^51 spacings of the grid, 2^18 to 2^19 noise standard deviations");
  }
  if (!(largest > 0) || !(deviations_max * largest * scale_ < units_max)) {
    throw InvalidParameter("largest standard deviation of the correlated noise", shown(largest),
                           "positive, and 40 of it less than 2^51 spacings of the grid");
  }
}

void Grid::round_noise(std::span<const double> z, std::span<std::int64_t> out) const {
  NUSTREAM_REQUIRE(z.size() == out.size(), "grid: as many integers as noise values");
  kernels(fastest_instruction_set()).round(z.data(), scale_, out.data(), z.size());
}

}  // namespace nustream::noise
