// Neighbouring bins: which of them show together where noise may hide each, and which are near others.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace nustream::ranges {

/// Counts are added up over this many bins at most.
inline constexpr std::size_t widest_window = 8;

/// Neighbouring bins, from `first` on, and how far the sum of their counts is above 0, in deviations of its noise.
struct Window {
  std::size_t first = 0;
  std::size_t bins = 0;
  double sum = 0;
  double standing = 0;

  [[nodiscard]] bool holds(std::size_t bin) const noexcept { return bin >= first && bin < first + bins; }
};

/// The window within [from, to) that stands out most: of at least `narrowest` bins, all of which `is_free` allows.
/// `stddev` is that of the noise in one count. There are no bins in the result where no sum is above 0.
///
/// The sum that stands out most tells where the rows are: in a wider window they stand among empty bins, and a
/// narrower one leaves some of them out.
template <class IsFree>
[[nodiscard]] Window outstanding(std::span<const double> counts, double stddev, std::size_t from, std::size_t to,
                                 std::size_t narrowest, const IsFree& is_free) {
  Window most;
  for (std::size_t first = from; first < to; ++first) {
    Window window{first, 0, 0, 0};
    while (window.bins < widest_window && first + window.bins < to && is_free(first + window.bins)) {
      window.sum += counts[first + window.bins++];
      window.standing = window.sum / (stddev * std::sqrt(static_cast<double>(window.bins)));
      if (window.bins >= narrowest && window.standing > most.standing) most = window;
    }
  }
  return most;
}

/// Which bins are at most `reach` bins from one of `kept`, those themselves among them.
[[nodiscard]] inline std::vector<bool> near_others(const std::vector<bool>& kept, std::size_t reach) {
  std::vector<bool> near(kept.size());
  for (std::size_t bin = 0; bin < kept.size(); ++bin) {
    if (!kept[bin]) continue;
    const std::size_t end = std::min(kept.size(), bin + reach + 1);
    for (std::size_t at = bin - std::min(bin, reach); at < end; ++at) near[at] = true;
  }
  return near;
}

}  // namespace nustream::ranges
