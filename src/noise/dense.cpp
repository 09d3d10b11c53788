// The rows of a dense encoder C, packed one behind the other: row t has min(t + 1, bands) entries and ends with the
// diagonal. With 3 bands the rows are 1, 2, 3, 3, … entries long.
#include "nustream/noise/dense.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/shown.h"

namespace nustream::noise {
namespace {

/// The most entries: 64 MiB of doubles, or 4095 steps of a full triangle.
constexpr std::size_t most_entries = std::size_t{1} << 23;

}  // namespace

std::size_t Dense::entries_before(std::size_t t, std::size_t bands) noexcept {
  const std::size_t growing = std::min(t, bands);
  return growing * (growing + 1) / 2 + (t - growing) * bands;
}

std::size_t Dense::entries(std::size_t bands, StepCount horizon) {
  if (horizon.value() == 0) refuse("horizon", horizon.value(), "at least 1 step");
  if (bands == 0 || bands > horizon.value()) refuse("bands", bands, "1 ... horizon");
  // Every row has at least one entry, so a longer horizon has too many. Its product with the bands might overflow.
  if (horizon.value() > most_entries) refuse("horizon", horizon.value(), "horizon times bands about 2^23 or less");
  const std::size_t count = entries_before(static_cast<std::size_t>(horizon.value()), bands);
  if (count > most_entries) refuse("horizon", horizon.value(), "horizon times bands about 2^23 or less");
  return count;
}

Dense::Dense(std::vector<double> rows, std::size_t bands, StepCount horizon) : bands_(bands), horizon_(horizon) {
  if (rows.size() != entries(bands, horizon)) refuse("rows", rows.size(), "min(t + 1, bands) entries for each row t");
  // Copies of a correlation share the entries, as nobody changes them.
  rows_ = std::make_shared<const std::vector<double>>(std::move(rows));
  for (const double entry : *rows_) {
    if (!std::isfinite(entry)) refuse("rows", entry, "finite entries");
  }
  // Substitution divides by the diagonal, and C has to have an inverse.
  for (std::size_t t = 0; t < horizon_.value(); ++t) {
    if (!(row(t).back() > 0)) refuse("rows", row(t).back(), "a diagonal > 0");
  }
}

std::span<const double> Dense::row(std::size_t t) const noexcept {
  return std::span<const double>(*rows_).subspan(entries_before(t, bands_), std::min(t + 1, bands_));
}

}  // namespace nustream::noise
