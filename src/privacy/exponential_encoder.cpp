// The encoders that are sums of exponentials: independent noise, anti-PGD with and without damping, and rational
// correlations. Their norms have closed forms at any number of steps, so no column is ever written out.
#include "encoders.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "nustream/base/error.h"
#include "rounding.h"

namespace nustream::privacy {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

/// Σ_{0≤n<length} (xy)^n for 0 < x, y ≤ 1. The fused multiply-add rounds 1 − xy once. If the product were rounded
/// first, the difference would lose all its digits near 1, where the slow poles are.
double geometric_sum(double x, double y, double length) {
  if (length == 0) return 0;  // also handles an xy so small that its logarithm is infinite
  const double gap = std::fma(-x, y, 1.0);
  if (gap == 0) return length;
  return -std::expm1(length * std::log1p(-gap)) / gap;
}

/// The norm of v_t = Σ_i c_{t−ib}, with participations at 0, b, 2b, …. Between two participations v is a sum of
/// exponentials with fixed amplitudes s_i(t) = Σ_{jb<t} q_i^{t−jb−1}, so ‖v‖² is a sum of geometric sums, block by
/// block. All terms are positive, so nothing cancels.
class ExponentialNorm final : public EncoderNorm {
 public:
  ExponentialNorm(ExponentialEncoder encoder, const Participation& participation)
      : encoder_(std::move(encoder)), participation_(participation), amplitudes_(encoder_.decays.size(), 0.0) {
    const double length = static_cast<double>(participation_.separation() - 1);
    for (const double decay : encoder_.decays) block_decays_.push_back(std::pow(decay, length));
  }

  double squared(std::uint64_t steps) override {
    const std::uint64_t times = participation_.times_within(StepCount{steps});
    // All participations but the last have b steps, their own included. The last one has what is left, at least one.
    const std::uint64_t last = steps - (times - 1) * participation_.separation();
    const long double squared = whole_blocks(times - 1) + block_norm(static_cast<double>(last - 1));
    return outward(squared, static_cast<double>(steps));
  }

  double squared_limit() override {
    for (const double decay : encoder_.decays) {
      if (decay == 1) throw Unsupported("the sensitivity of this correlation grows without limit: give a horizon");
    }
    const long double squared = whole_blocks(participation_.times() - 1) + block_norm(endless);
    return outward(squared, endless);
  }

 private:
  /// Σ v_t² over the first `blocks` blocks of b steps each. Leaves in amplitudes_ those of the block that follows.
  [[nodiscard]] long double whole_blocks(std::uint64_t blocks) {
    // Fewer blocks than before begin anew, so that the answer does not depend on what was asked earlier.
    if (blocks < blocks_) {
      blocks_ = 0;
      sum_ = 0;
      steady_ = false;
      amplitudes_.assign(amplitudes_.size(), 0.0);
    }
    const double length = static_cast<double>(participation_.separation() - 1);
    while (blocks_ < blocks && !steady_) {
      sum_ += block_norm(length);
      ++blocks_;
      const std::vector<double> before = amplitudes_;
      // From one participation to the next, what is there decays by q^b, and the participation in between adds
      // q^{b−1}.
      for (std::size_t i = 0; i < amplitudes_.size(); ++i) {
        amplitudes_[i] = (encoder_.decays[i] * amplitudes_[i] + 1) * block_decays_[i];
      }
      steady_ = amplitudes_ == before;
    }
    // The amplitudes have reached a fixed point of the rounded map, so every later block adds the same.
    return sum_ + static_cast<long double>(blocks - blocks_) * block_norm(length);
  }

  /// Rounds up by the error of the slowest term, which grows with each step that the term lasts.
  [[nodiscard]] double outward(long double squared, double steps) const {
    double memory = 1;  // steps over which the slowest term decays
    for (const double decay : encoder_.decays) memory = std::max(memory, 1 / (1 - decay));
    return rounded_up(static_cast<double>(squared), encoder_.rounding_per_step * std::min(memory, steps));
  }

  /// Σ v_t² over the step of a participation and the `length` steps after it.
  [[nodiscard]] double block_norm(double length) const {
    const auto& q = encoder_.decays;
    const auto& b = encoder_.weights;
    double start = 1;
    for (std::size_t i = 0; i < q.size(); ++i) start += b[i] * amplitudes_[i];
    double sum = start * start;
    for (std::size_t i = 0; i < q.size(); ++i) {
      const double at_i = b[i] * (q[i] * amplitudes_[i] + 1);
      for (std::size_t j = 0; j < q.size(); ++j) {
        const double at_j = b[j] * (q[j] * amplitudes_[j] + 1);
        sum += at_i * at_j * geometric_sum(q[i], q[j], length);
      }
    }
    return sum;
  }

  ExponentialEncoder encoder_;
  Participation participation_;
  std::vector<double> block_decays_;  // q_i^{b−1}
  std::uint64_t blocks_ = 0;          // how many complete blocks sum_ holds
  bool steady_ = false;               // all later blocks are alike
  long double sum_ = 0;
  std::vector<double> amplitudes_;  // s_i at the start of the next block
};

}  // namespace

std::unique_ptr<EncoderNorm> exponential_norm(ExponentialEncoder encoder, const Participation& participation) {
  return std::make_unique<ExponentialNorm>(std::move(encoder), participation);
}

}  // namespace nustream::privacy
