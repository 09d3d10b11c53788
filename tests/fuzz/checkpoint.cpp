// What a state holds of a lane and of the lane's noise.
#include <cmath>
#include <cstring>

#include "fuzz.h"
#include "lane_stages.h"
#include "nustream/base/error.h"
#include "nustream/noise/source.h"

namespace nustream::fuzz {
namespace {

struct Kind {
  lane::Settings settings;
  std::vector<noise::Grid> grids;
};

std::vector<Kind> kinds() {
  std::vector<lane::Settings> all{tests::settings_for(2, {}), tests::multinomial_settings(2),
                                  tests::two_stage_settings(1, 0)};
  all[0].averaging = {descent::Averaging::Kind::tail, 3, 0.5};
  all.push_back(all[0]);
  all[3].batching = descent::Batching{3, 2, 2};
  all[3].trail = descent::TrailSettings{3};
  std::vector<Kind> result;
  for (const lane::Settings& settings : all) result.push_back({settings, tests::grids_for(settings)});
  return result;
}

void check_lane(std::string_view input) {
  static const std::vector<Kind> all = kinds();
  const Kind& kind = all[take_byte(input) % all.size()];
  try {
    const lane::Lane lane = lane::Lane::decode(kind.settings, kind.grids, input);
    require(lane.encode() == input, "a lane that is read is written as it was");
  } catch (const InvalidParameter&) {
    // These bytes are no lane.
  }
}

// The noise has two coordinates, so that a short input is the memory of a generator.
void check_noise(std::string_view input) {
  constexpr std::size_t dimension = 2;
  static const std::vector<noise::Correlation> all{
      noise::Correlation{noise::Independent{}}, noise::Correlation{noise::NuFtrl{Damping{0.1}, StepCount{64}}},
      noise::Correlation{noise::DampedAntiPgd{Damping{0.1}}}, noise::windowed_nu(Damping{0.1}, 5),
      noise::Correlation{noise::Tree{3, noise::Tree::Estimator::plain, true}}};
  const noise::Correlation& correlation = all[take_byte(input) % all.size()];
  noise::Checkpoint checkpoint;
  for (std::uint64_t step = 0, more = take_byte(input) % 4; more > 0; --more) {
    step += take_byte(input);
    checkpoint.segments.push_back({StepIndex{step}, {}});
  }
  const auto kind = static_cast<noise::GeneratorKind>(take_byte(input) % 6);
  checkpoint.memory.resize(std::min<std::size_t>(input.size() / sizeof(double), 4096));
  if (!checkpoint.memory.empty()) {
    std::memcpy(checkpoint.memory.data(), input.data(), checkpoint.memory.size() * sizeof(double));
  }
  const std::uint64_t last = checkpoint.segments.empty() ? 0 : checkpoint.segments.back().first.value();
  const StepIndex next{last + checkpoint.memory.size() % 3};
  noise::Healing healing;
  if (checkpoint.memory.size() % 2 == 0) healing = {[](std::span<std::uint8_t> bytes) { bytes[0] = 1; }, true};
  try {
    noise::NoiseSource source(correlation, kind, dimension, checkpoint, next, std::pmr::get_default_resource(), {},
                              healing);
    // No memory is as good as a memory of zeros.
    const bool same = source.checkpoint(next).memory.size() == checkpoint.memory.size();
    require(same || checkpoint.memory.empty(), "a checkpoint is kept as it was");
  } catch (const InvalidParameter&) {
    // The memory is not one of this correlation.
  } catch (const Unsupported&) {
  }
}

void target(std::string_view input) {
  if (take_byte(input) % 2 == 0) return check_lane(input);
  check_noise(input);
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(checkpoint)
