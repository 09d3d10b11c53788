// The service, linked from its own library, with noise of the test's: that of the lane, moved by integers at one
// step, one for each number of every stage in turn. Usage: neighbour_service CONFIG SEED STEP SHIFT…
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "attach/attach.h"

namespace nustream::tests {
namespace {

class ShiftedNoise final : public engine::NoiseSupply {
 public:
  ShiftedNoise(std::unique_ptr<engine::NoiseSupply> noise, std::uint64_t step, std::vector<std::int64_t> shift)
      : noise_(std::move(noise)), step_(step), shift_(std::move(shift)) {}

  std::span<const noise::GridNoise> take(std::size_t steps_max) override {
    const std::span<const noise::GridNoise> stages = noise_->take(steps_max);
    const std::uint64_t first = stages.front().first.value();
    if (step_ < first || step_ >= first + engine::steps_in(stages)) return stages;
    units_.resize(stages.size());
    shifted_.clear();
    auto shift = shift_.begin();
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const noise::GridNoise& slice = stages[i];
      units_[i].assign(slice.units.begin(), slice.units.end());
      for (std::size_t j = 0; j < slice.dimension; ++j) units_[i][(step_ - first) * slice.dimension + j] += *shift++;
      shifted_.push_back({slice.first, slice.dimension, units_[i]});
    }
    if (shift != shift_.end()) std::abort();
    return shifted_;
  }
  [[nodiscard]] journal::NoiseCheckpoints checkpoints() const override { return noise_->checkpoints(); }

 private:
  std::unique_ptr<engine::NoiseSupply> noise_;
  std::uint64_t step_;
  std::vector<std::int64_t> shift_;
  std::vector<std::vector<std::int64_t>> units_;
  std::vector<noise::GridNoise> shifted_;
};

}  // namespace
}  // namespace nustream::tests

int main(int argc, char** argv) try {
  using namespace nustream;
  if (argc < 4) return 64;
  attach::Options options;
  options.insecure_seed = std::strtoull(argv[2], nullptr, 10);
  const std::uint64_t step = std::strtoull(argv[3], nullptr, 10);
  std::vector<std::int64_t> shift;
  for (int i = 4; i < argc; ++i) shift.push_back(std::strtoll(argv[i], nullptr, 10));
  options.wrap_noise = [&](LaneId,
                           std::unique_ptr<engine::NoiseSupply> noise) -> std::unique_ptr<engine::NoiseSupply> {
    return std::make_unique<tests::ShiftedNoise>(std::move(noise), step, shift);
  };
  return static_cast<int>(attach::run(config::read_config(argv[1], {}), options));
} catch (const std::exception& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 70;
}
