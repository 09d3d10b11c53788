// A small project that uses the installed library: plans a budget and takes private steps, without files or threads.
#include <cstdio>
#include <vector>

#include "nustream/base/strong.h"
#include "nustream/lane/lane.h"
#include "nustream/noise/source.h"
#include "nustream/privacy/sensitivity.h"
#include "nustream/privacy/zcdp.h"

namespace {

// A number of its own, as nustream/base/strong.h shows it.
struct DeltaTag {
  static constexpr const char* name = "delta";
  static constexpr const char* allowed = "0 < delta < 1";
  static constexpr bool valid(double value) { return value > 0 && value < 1; }
};

}  // namespace

int main() {
  using namespace nustream;
  const Strong<::DeltaTag, double> delta{1e-6};
  const noise::Correlation correlation{noise::Rational::nu_ftrl(Damping{0.01})};
  const ClipNorm clip{1.0};
  const auto once = privacy::Participation::once();
  const NoiseMultiplier sigma = privacy::multiplier_for(privacy::sensitivity_limit(correlation, once), Rho{0.5});
  const NoiseStddev stddev = noise_stddev(sigma, privacy::displacement(clip, privacy::Adjacency::zero_out));
  const noise::Grid grid(stddev, noise::largest_stddev(correlation), clip);

  const lane::Settings settings{.dimension = 1,
                                .loss = {.kind = model::Loss::Kind::mean},
                                .l2 = 0,
                                .clip = clip,
                                .schedule = descent::Schedule{descent::Constant{StepSize{0.01}}},
                                .projection = {},
                                .averaging = {},
                                .minibatch = 1,
                                .release_every = 1000,
                                .start = {0.0}};
  lane::Lane lane(settings, grid, Position{0});
  const noise::KeyBytes key{1};  // a real program takes 32 bytes from getrandom
  noise::NoiseSource source(correlation, noise::GeneratorKind::automatic, 1,
                            noise::first_checkpoint(key, {LaneId{0}, EpochId{0}, 0}), StepIndex{0});
  const noise::CorrelatedBlock block = source.next();
  std::vector<std::int64_t> units(block.z.size());
  grid.round_noise(block.z, units);

  record::RowBatch rows;
  rows.dimension = 1;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    rows.x.push_back(0.5);
    rows.y.push_back(0);
    rows.next.push_back(i + 1);
  }
  lane::Releases releases;
  lane.advance(record::slice(rows, 0, 1000), {block.first, 1, units}, releases);
  const privacy::Spend spend(correlation, once, sigma);
  std::printf("private mean %.3f after %d records, rho %.6f; delta would be %g\n", releases[0].theta[0], 1000,
              spend.after(StepCount{1000}).value(), delta.value());
  return releases.size() == 1 && lane.steps() == StepCount{1000} ? 0 : 1;
}
