// Copies the releases of a batch. Their numbers lie one behind the other in a single vector, whose memory is reused.
#include <algorithm>
#include <array>
#include <cstring>

#include "nustream/lane/lane.h"

namespace nustream::lane {
namespace {

std::array<std::span<const double>, 5> values_of(const Release& release) {
  return {release.theta, release.average, release.batch_means, release.bread, release.meat};
}

}  // namespace

void Releases::clear() noexcept {
  entries_.clear();
  values_.clear();
}

/// Whether the last release has the same trail, bit by bit, so that NaN is like NaN.
bool Releases::has_trail_of_last(std::span<const double> trail) const noexcept {
  if (entries_.empty() || entries_.back().trail_size != trail.size()) return false;
  return trail.empty() ||
         std::memcmp(values_.data() + entries_.back().trail_offset, trail.data(), trail.size_bytes()) == 0;
}

/// A release's spans point into the lane's own state, which moves on. So the numbers are copied, and operator[] makes
/// the spans anew.
void Releases::append(const Release& release) {
  Entry entry{release, values_.size(), {}, 0, release.trail.size()};
  const auto parts = values_of(release);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    entry.sizes[i] = parts[i].size();
    values_.insert(values_.end(), parts[i].begin(), parts[i].end());
  }
  const bool is_known = has_trail_of_last(release.trail);
  entry.trail_offset = is_known ? entries_.back().trail_offset : values_.size();
  if (!is_known) values_.insert(values_.end(), release.trail.begin(), release.trail.end());
  // No span may be kept that points into the lane.
  entry.shown.theta = entry.shown.average = entry.shown.batch_means = entry.shown.bread = entry.shown.meat = {};
  entry.shown.trail = {};
  entries_.push_back(entry);
}

/// The spans of the result point into values_, and hold until the next append() or clear().
Release Releases::operator[](std::size_t index) const {
  const Entry& entry = entries_.at(index);
  Release release = entry.shown;
  std::span<const double> rest = std::span(values_).subspan(entry.offset);
  const auto next = [&](std::size_t size) {
    const std::span<const double> part = rest.first(size);
    rest = rest.subspan(size);
    return part;
  };
  release.theta = next(entry.sizes[0]);
  release.average = next(entry.sizes[1]);
  release.batch_means = next(entry.sizes[2]);
  release.bread = next(entry.sizes[3]);
  release.meat = next(entry.sizes[4]);
  release.trail = std::span(values_).subspan(entry.trail_offset, entry.trail_size);
  return release;
}

}  // namespace nustream::lane
