// Noise that begins anew every R steps: an ordinary generator is run on each stretch with step numbers from 0, and is
// reset at the border. Seed noise keeps its absolute steps, so no two stretches share any.
#include "generator.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "nustream/base/error.h"

namespace nustream::noise {
namespace {

// The seed noise of the `every` steps from `base` on, numbered from 0. Zeros follow it: a transform reads ahead, and
// what it computes from those steps is never asked for.
class SeedFrom final : public SeedNoise {
 public:
  SeedFrom(SeedNoise& seed, std::uint64_t base, std::uint64_t every) : seed_(seed), base_(base), every_(every) {}

  void fill(StepIndex first, std::size_t steps, std::span<double> out) override {
    const std::uint64_t left = every_ - std::min(every_, first.value());
    const auto inside = static_cast<std::size_t>(std::min<std::uint64_t>(steps, left));
    const std::size_t width = out.size() / steps;
    if (inside > 0) seed_.fill(StepIndex{base_ + first.value()}, inside, out.first(inside * width));
    std::ranges::fill(out.subspan(inside * width), 0.0);
  }

 private:
  SeedNoise& seed_;
  std::uint64_t base_;
  std::uint64_t every_;
};

class RestartedGenerator final : public Generator {
 public:
  RestartedGenerator(std::unique_ptr<Generator> block, std::uint64_t every, std::size_t dimension)
      : block_(std::move(block)), every_(every), dimension_(dimension), fresh_(block_->memory()) {}

  [[nodiscard]] std::size_t seed_width() const override { return block_->seed_width(); }
  // Nothing before the present stretch is read: noise of one stretch does not depend on that of another.
  [[nodiscard]] StepIndex oldest_needed(StepIndex block_first) const override {
    const std::uint64_t base = base_of(block_first.value());
    return StepIndex{base + block_->oldest_needed(StepIndex{block_first.value() - base}).value()};
  }
  // Of a stretch no more can be read again than the steps before its last one.
  [[nodiscard]] std::uint64_t reach() const override { return std::min(block_->reach(), every_ - 1); }
  [[nodiscard]] std::vector<double> memory() const override { return block_->memory(); }
  void copy_memory(std::vector<double>& out) const override { block_->copy_memory(out); }
  [[nodiscard]] bool memoryless() const override { return block_->memoryless(); }

  void restore(StepIndex block_first, std::span<const double> memory) override {
    next_ = block_first.value();
    // The block generator counts from the start of its stretch.
    block_->restore(StepIndex{next_ - base_of(next_)}, memory);
  }

  void generate(StepIndex block_first, std::size_t steps, SeedNoise& seed, std::span<double> z) override {
    NUSTREAM_REQUIRE(block_first.value() == next_, "noise blocks are generated in order");
    for (std::size_t done = 0; done < steps;) {
      const std::uint64_t base = base_of(next_);
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(steps - done, base + every_ - next_));
      SeedFrom from(seed, base, every_);
      block_->generate(StepIndex{next_ - base}, count, from, z.subspan(done * dimension_, count * dimension_));
      next_ += count;
      done += count;
      // The restart happens at once, so that what is remembered at a border is what the next step begins with.
      if (next_ % every_ == 0) {
        block_->restore(StepIndex{0}, fresh_);
      }
    }
  }

 private:
  [[nodiscard]] std::uint64_t base_of(std::uint64_t step) const { return step / every_ * every_; }

  std::unique_ptr<Generator> block_;
  std::uint64_t every_;
  std::size_t dimension_;
  std::vector<double> fresh_;  // what the block generator remembers before any step
  std::uint64_t next_ = 0;
};

}  // namespace

std::unique_ptr<Generator> make_restarted(std::unique_ptr<Generator> block, StepCount every, std::size_t dimension) {
  return std::make_unique<RestartedGenerator>(std::move(block), every.value(), dimension);
}

}  // namespace nustream::noise
