// The generator of dense correlations: solves C z = w row by row. It needs no inverse. But each z depends on all
// earlier ones, so after restore() they are computed again from step 0 on.
#include "generator.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "nustream/base/error.h"

namespace nustream::noise {
namespace {

class Forward final : public Generator {
 public:
  Forward(Dense encoder, std::size_t dimension)
      : encoder_(std::move(encoder)), dimension_(dimension), window_(encoder_.bands() * dimension) {}

  [[nodiscard]] std::size_t seed_width() const override { return dimension_; }
  [[nodiscard]] StepIndex oldest_needed(StepIndex /*block_first*/) const override { return StepIndex{0}; }
  // Seed noise since step 0 may be read again, so the keys of all segments have to be kept.
  [[nodiscard]] std::uint64_t reach() const override { return encoder_.horizon().value(); }
  [[nodiscard]] std::vector<double> memory() const override { return {}; }
  [[nodiscard]] bool memoryless() const override { return true; }

  void restore(StepIndex block_first, std::span<const double> memory) override {
    if (!memory.empty())
      throw InvalidParameter("checkpoint", "other than empty", "no memory for a dense correlation");
    next_ = block_first;
    substituted_ = 0;
  }

  void generate(StepIndex block_first, std::size_t steps, SeedNoise& seed, std::span<double> z) override {
    NUSTREAM_REQUIRE(block_first == next_, "noise blocks are generated in order");
    NUSTREAM_REQUIRE(z.size() == steps * dimension_, "a block of noise has its place");
    NUSTREAM_REQUIRE(block_first.value() + steps <= encoder_.horizon().value(),
                     "a dense encoder ends at its horizon");
    catch_up(block_first, steps, seed);
    // w is written into z itself, and is then replaced in place.
    seed.fill(block_first, steps, z);
    substitute(z);
    next_ = StepIndex{block_first.value() + steps};
  }

 private:
  // Computes the steps before the block once more after restore(), in pieces of the block's size.
  void catch_up(StepIndex block_first, std::size_t steps, SeedNoise& seed) {
    while (substituted_ < block_first.value()) {
      const std::size_t count = std::min<std::uint64_t>(steps, block_first.value() - substituted_);
      earlier_.resize(count * dimension_);
      seed.fill(StepIndex{substituted_}, count, earlier_);
      substitute(earlier_);
    }
  }

  // The row of window_ that holds the z of `step`: row step mod bands.
  [[nodiscard]] double* window_row(std::uint64_t step) {
    return window_.data() + step % encoder_.bands() * dimension_;
  }

  // Turns `values` from the w of the next steps into their z.
  void substitute(std::span<double> values) {
    for (std::size_t first = 0; first < values.size(); first += dimension_) {
      const std::uint64_t step = substituted_;
      const std::span<const double> row = encoder_.row(static_cast<std::size_t>(step));
      double* const z = values.data() + first;
      // The entries of a row are in the order of the steps, and the last one is the diagonal.
      const std::uint64_t oldest = step + 1 - row.size();
      for (std::size_t i = 0; i + 1 < row.size(); ++i) {
        const double weight = row[i];
        const double* const earlier = window_row(oldest + i);
        for (std::size_t j = 0; j < dimension_; ++j) z[j] -= weight * earlier[j];
      }
      for (std::size_t j = 0; j < dimension_; ++j) z[j] /= row.back();
      // The next rows read this z, perhaps in the same call.
      std::copy_n(z, dimension_, window_row(step));
      ++substituted_;
    }
  }

  Dense encoder_;
  std::size_t dimension_;
  std::vector<double> window_;   // z of the last `bands` steps
  std::vector<double> earlier_;  // a piece of the steps that are computed once more
  std::uint64_t substituted_ = 0;
  StepIndex next_{0};
};

}  // namespace

std::unique_ptr<Generator> make_forward(const Dense& encoder, std::size_t dimension) {
  return std::make_unique<Forward>(encoder, dimension);
}

}  // namespace nustream::noise
