// The plain generator, z_t = Σ_s β_s w_{t−s}: it defines what the others compute, and is the fastest for short
// windows.
#include "generator.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "nustream/base/error.h"

namespace nustream::noise {
namespace {

class Direct final : public Generator {
 public:
  Direct(std::vector<double> beta, std::size_t dimension) : beta_(std::move(beta)), dimension_(dimension) {}

  [[nodiscard]] std::size_t seed_width() const override { return dimension_; }

  // The first step of the block reads W − 1 steps back, or as many as there are.
  [[nodiscard]] StepIndex oldest_needed(StepIndex block_first) const override {
    const std::uint64_t earlier = beta_.size() - 1;
    return StepIndex{block_first.value() - std::min(block_first.value(), earlier)};
  }

  [[nodiscard]] std::uint64_t reach() const override { return beta_.size() - 1; }
  [[nodiscard]] std::vector<double> memory() const override { return {}; }
  [[nodiscard]] bool memoryless() const override { return true; }

  // Nothing but the place is restored. The window is filled from the keys when the next block is asked for.
  void restore(StepIndex block_first, std::span<const double> memory) override {
    if (!memory.empty()) throw InvalidParameter("checkpoint", "other than empty", "no memory for a window");
    next_ = block_first;
    window_filled_ = false;
  }

  void generate(StepIndex block_first, std::size_t steps, SeedNoise& seed, std::span<double> z) override {
    NUSTREAM_REQUIRE(block_first == next_, "noise blocks are generated in order");
    NUSTREAM_REQUIRE(z.size() == steps * dimension_, "a block of noise has its place");
    load(block_first, steps, seed);
    convolve(z);
    keep_window(steps);
    next_ = StepIndex{block_first.value() + steps};
  }

 private:
  [[nodiscard]] std::size_t earlier_samples() const { return (beta_.size() - 1) * dimension_; }

  // Fills seed_ with the W − 1 steps before the block (zeros before step 0) and then with the block's steps.
  void load(StepIndex block_first, std::size_t steps, SeedNoise& seed) {
    // After a block the earlier steps already stand at the front, where keep_window() has put them.
    seed_.resize(earlier_samples() + steps * dimension_);
    if (!window_filled_) {
      const std::uint64_t known = block_first.value() - oldest_needed(block_first).value();
      const std::size_t absent = earlier_samples() - known * dimension_;
      std::fill_n(seed_.begin(), absent, 0.0);
      if (known > 0) {
        seed.fill(oldest_needed(block_first), known, std::span(seed_).subspan(absent, known * dimension_));
      }
      window_filled_ = true;
    }
    seed.fill(block_first, steps, std::span(seed_).subspan(earlier_samples()));
  }

  // Works in tiles that stay in the first-level cache. Every sample adds its terms from the oldest, where β is small,
  // to the latest, so the roundings that count are those of the last few sums. That order does not depend on the
  // tile, and z is the same to the bit in any slicing.
  void convolve(std::span<double> z) const {
    constexpr std::size_t tile = 1024;
    for (std::size_t first = 0; first < z.size(); first += tile) {
      const std::size_t count = std::min(tile, z.size() - first);
      double* const sum = z.data() + first;
      std::fill_n(sum, count, 0.0);
      for (std::size_t s = beta_.size(); s-- > 0;) {
        const double weight = beta_[s];
        const double* const seed = seed_.data() + earlier_samples() + first - s * dimension_;
        for (std::size_t i = 0; i < count; ++i) sum[i] += weight * seed[i];
      }
    }
  }

  // Moves the last W − 1 steps to the front, for the next block.
  void keep_window(std::size_t steps) {
    std::copy_n(seed_.begin() + static_cast<std::ptrdiff_t>(steps * dimension_), earlier_samples(), seed_.begin());
  }

  std::vector<double> beta_;
  std::size_t dimension_;
  StepIndex next_{0};
  bool window_filled_ = false;
  std::vector<double> seed_;
};

}  // namespace

std::unique_ptr<Generator> make_direct(std::vector<double> beta, std::size_t dimension) {
  NUSTREAM_REQUIRE(!beta.empty() && beta.front() == 1, "beta begins with 1: the fresh noise");
  return std::make_unique<Direct>(std::move(beta), dimension);
}

}  // namespace nustream::noise
