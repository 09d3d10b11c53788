// Keeps between 32 and 63 pairs of iterates in O(d) numbers, however long the run is.
#include "nustream/descent/trail.h"

#include <algorithm>
#include <bit>

#include "nustream/base/error.h"

namespace nustream::descent {

StepCount Trail::next() const noexcept {
  const std::uint64_t end = from_ + (pairs() + 1) * distance_;
  const bool is_half = iterates_.size() / dimension_ % 2 == 1;
  return StepCount{is_half ? end : end - 1};
}

void Trail::pass(std::span<const double> theta) {
  NUSTREAM_REQUIRE(theta.size() == dimension_, "an iterate has the dimension of the trail");
  iterates_.insert(iterates_.end(), theta.begin(), theta.end());
  if (iterates_.size() <= most_iterates * dimension_) return;
  // The second, the fourth and so on are the pairs at the ends of stretches of twice the length.
  const std::size_t pair = 2 * dimension_;
  for (std::size_t i = 0; i < kept; ++i) {
    const auto from = iterates_.begin() + static_cast<std::ptrdiff_t>((2 * i + 1) * pair);
    std::copy_n(from, pair, iterates_.begin() + static_cast<std::ptrdiff_t>(i * pair));
  }
  iterates_.resize(kept * pair);
  distance_ *= 2;
}

void Trail::restore(std::uint64_t distance, std::span<const double> iterates, StepCount steps) {
  const std::size_t count = iterates.size() / dimension_;
  const bool doubled = distance % first_distance == 0 && std::has_single_bit(distance / first_distance);
  // A trail without an iterate is not written, and one that was thinned out never has fewer pairs than it kept.
  const bool fits = count > 0 && count <= most_iterates && (distance == first_distance || count >= 2 * kept);
  if (!doubled || !fits || iterates.size() % dimension_ != 0) {
    throw InvalidParameter("trail", "iterates that cannot be", "those of a state");
  }
  distance_ = distance;
  iterates_.assign(iterates.begin(), iterates.end());
  // Its last iterate was taken before `steps` or at it, and the next one is taken behind it.
  const std::uint64_t end = from_ + pairs() * distance_;
  const std::uint64_t last = count % 2 == 1 ? end + distance_ - 1 : end;
  if (last > steps.value() || next() <= steps) {
    throw InvalidParameter("trail", "iterates of other steps", "those of a state");
  }
}

}  // namespace nustream::descent
