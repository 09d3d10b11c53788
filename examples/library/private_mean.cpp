// Computes the private mean of a stream with one clipped, noisy step for each value.
#include <cstdio>
#include <vector>

#include "nustream/lane/lane.h"
#include "nustream/noise/source.h"
#include "nustream/privacy/sensitivity.h"
#include "nustream/privacy/zcdp.h"

using namespace nustream;

int main() {
  // The settings are public: values lie within ±1, and ρ = 0.5 is never exceeded, however long the stream is.
  const noise::Correlation correlation{noise::Rational::nu_ftrl(Damping{0.01})};
  const ClipNorm clip{1.0};
  const auto once = privacy::Participation::once();
  const NoiseMultiplier sigma = privacy::multiplier_for(privacy::sensitivity_limit(correlation, once), Rho{0.5});
  const NoiseStddev stddev = noise_stddev(sigma, privacy::displacement(clip, privacy::Adjacency::zero_out));
  const noise::Grid grid(stddev, noise::largest_stddev(correlation), clip);

  // A mean is a descent whose loss has the mean as its minimum.
  lane::Lane lane({.dimension = 1,
                   .loss = {.kind = model::Loss::Kind::mean},
                   .l2 = 0,
                   .clip = clip,
                   .schedule = descent::Schedule{descent::Constant{StepSize{0.01}}},
                   .projection = {},
                   .averaging = {.kind = descent::Averaging::Kind::tail, .from = 2'000},
                   .minibatch = 1,
                   .release_every = 10'000,
                   .start = {0.0}},
                  grid, Position{0});
  const noise::KeyBytes key{7};  // a real program takes 32 bytes from getrandom, and wipes them
  noise::NoiseSource source(correlation, noise::GeneratorKind::automatic, 1,
                            noise::first_checkpoint(key, {LaneId{0}, EpochId{0}, 0}), StepIndex{0});

  // The stream arrives in pieces; here a piece is as long as a block of noise.
  lane::Releases releases;
  double sum = 0;
  std::uint64_t count = 0;
  for (int piece = 0; piece < 4; ++piece) {
    const noise::CorrelatedBlock block = source.next();
    std::vector<std::int64_t> units(block.z.size());
    grid.round_noise(block.z, units);
    record::RowBatch rows;
    rows.dimension = 1;
    for (std::size_t i = 0; i < block.steps; ++i, ++count) {
      const double value = 0.1 * static_cast<double>(count * 7 % 10) - 0.2;  // −0.2, 0.5, 0.2, … of mean 0.25
      sum += value;
      rows.x.push_back(value);
      rows.y.push_back(0);  // a mean has no target
      rows.next.push_back(count + 1);
    }
    lane.advance(record::slice(rows, 0, rows.count()), {block.first, 1, units}, releases);
  }

  privacy::Spend spend(correlation, once, sigma);
  for (std::size_t i = 0; i < releases.size(); ++i) {
    std::printf("values %llu  last %.6f  average %.6f  rho %.6f\n",
                static_cast<unsigned long long>(releases[i].steps.value()), releases[i].theta[0],
                releases[i].average[0], spend.after(releases[i].steps).value());
  }
  std::printf("true mean %.6f of %llu values\n", sum / static_cast<double>(count),
              static_cast<unsigned long long>(count));
}
