#include "nustream/base/error.h"
#include "nustream/lane/lane.h"

namespace nustream::lane {

void Releases::clear() noexcept {
  entries_.clear();
  values_.clear();
}

void Releases::append(StepCount steps, Position position, std::span<const double> theta,
                      std::span<const double> average) {
  NUSTREAM_REQUIRE(average.empty() || average.size() == theta.size(), "an average has d entries");
  entries_.push_back({steps.value(), position.value(), values_.size(), theta.size(), !average.empty()});
  values_.insert(values_.end(), theta.begin(), theta.end());
  values_.insert(values_.end(), average.begin(), average.end());
}

Release Releases::operator[](std::size_t index) const {
  const Entry& entry = entries_.at(index);
  const auto values = std::span<const double>(values_).subspan(entry.offset);
  return {StepCount{entry.steps}, Position{entry.position}, values.first(entry.dimension),
          values.subspan(entry.dimension, entry.averaged ? entry.dimension : 0)};
}

}  // namespace nustream::lane
