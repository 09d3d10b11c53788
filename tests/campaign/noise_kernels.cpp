// Puts words from standard input through the Gaussian and then the recurrent filter, for one coordinate and for
// eight, on the baseline loops, and writes doubles to standard output. noise_aarch64.sh compares what two
// architectures make of the same words.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "noise/generator.h"

namespace nustream::noise {
namespace {

// The samples that were made of standard input. The generators ask for the steps in order.
class PipedSeed final : public SeedNoise {
 public:
  explicit PipedSeed(std::vector<double>& samples) : samples_(samples) {}
  void fill(StepIndex /*first*/, std::size_t /*steps*/, std::span<double> out) override {
    std::copy(samples_.begin(), samples_.end(), out.begin());
  }

 private:
  std::vector<double>& samples_;
};

void write(const std::vector<double>& values) {
  std::fwrite(values.data(), sizeof(double), values.size(), stdout);
}

int run() {
  const std::vector<double> p{0.5, 0.75, 0.875, 0.9375, 0.96875, 0.984375};
  const std::vector<double> a{0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625};
  const auto one = make_recurrent(p, a, 1, InstructionSet::baseline);
  const auto eight = make_recurrent(p, a, 8, InstructionSet::baseline);
  std::vector<std::uint64_t> words(64 * gaussian_chunk);
  std::vector<double> samples(words.size());
  std::vector<double> z(words.size());
  PipedSeed seed(samples);
  while (std::fread(words.data(), sizeof words[0], words.size(), stdin) == words.size()) {
    fill_gaussian(words, samples, InstructionSet::baseline);
    write(samples);
    one->generate(StepIndex{0}, z.size(), seed, z);
    write(z);
    eight->generate(StepIndex{0}, z.size() / 8, seed, z);
    write(z);
  }
  return 0;
}

}  // namespace
}  // namespace nustream::noise

int main() {
  return nustream::noise::run();
}
