// Measures what a sample of noise costs: its parts, and the whole from keys to grid integers, independent and
// correlated, at the first step and at the ten-millionth; and the textbook generator that it replaces. In the
// environment: ROUNDS is the number of timings of each case (21), DIMENSION the only dimension, and STEPS the steps
// of one timing of a source (64 blocks).
#include <fmt/format.h>

#include <array>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness.h"
#include "noise/key_ring.h"
#include "noise/keystream.h"
#include "noise/seed_noise.h"
#include "nustream/noise/grid.h"
#include "nustream/noise/source.h"

namespace nustream::benchmarks {
namespace {

using namespace nustream::noise;

constexpr std::uint64_t late_step = 10'000'000;

// A run takes some milliseconds, unless STEPS says otherwise; a block takes a few tens of microseconds.
std::size_t blocks_per_run(std::size_t dimension) {
  const std::size_t block = steps_per_block(dimension);
  const std::size_t steps = asked("STEPS", 64 * block);
  if (steps % block != 0) throw std::invalid_argument(fmt::format("STEPS={}: not whole blocks of {}", steps, block));
  return steps / block;
}

std::string name_of(InstructionSet set) {
  return set == InstructionSet::avx512 ? "avx512" : set == InstructionSet::avx2 ? "avx2" : "baseline";
}

Checkpoint checkpoint_at(std::uint64_t step, std::size_t dimension, std::size_t poles) {
  Checkpoint checkpoint = first_checkpoint(KeyBytes{1}, {LaneId{0}, EpochId{0}, 0});
  checkpoint.segments.front().first = StepIndex{step};
  checkpoint.memory.resize(poles * dimension);
  return checkpoint;
}

// Draws z from a source, as grid integers where `grid` is given.
Case source_case(const std::string& name, const Correlation& correlation, std::size_t poles, std::size_t dimension,
                 std::uint64_t first_step, bool rounded) {
  const std::size_t samples = steps_per_block(dimension) * dimension;
  const std::size_t blocks = blocks_per_run(dimension);
  const auto source =
      std::make_shared<NoiseSource>(correlation, GeneratorKind::automatic, dimension,
                                    checkpoint_at(first_step, dimension, poles), StepIndex{first_step});
  const auto units = std::make_shared<std::vector<std::int64_t>>(samples);
  const Grid grid(NoiseStddev{1}, largest_stddev(correlation), ClipNorm{1});
  return {name, static_cast<double>(blocks * samples), [=] {
            for (std::size_t block = 0; block < blocks; ++block) {
              const auto z = source->next().z;
              if (rounded) grid.round_noise(z, *units);
              keep(rounded ? static_cast<const void*>(units->data()) : static_cast<const void*>(z.data()));
            }
          }};
}

std::vector<Case> parts() {
  const std::size_t count = 16384;
  const auto words = std::make_shared<std::vector<std::uint64_t>>(count);
  const auto samples = std::make_shared<std::vector<double>>(count);
  const auto keystream = std::make_shared<Keystream>();
  keystream->set_key(KeyBytes{1});
  keystream->fill(0, *words);
  std::vector<Case> cases;
  cases.push_back({"AES-256-CTR words", 64.0 * static_cast<double>(count), [=] {
                     for (std::uint64_t i = 0; i < 64; ++i) keystream->fill(i * count, *words);
                     keep(words->data());
                   }});
  for (const auto set : available_instruction_sets()) {
    cases.push_back({"Box-Muller, " + name_of(set), 64.0 * static_cast<double>(count), [=] {
                       for (int i = 0; i < 64; ++i) fill_gaussian(*words, *samples, set);
                       keep(samples->data());
                     }});
  }
  const auto random = std::make_shared<std::mt19937_64>(1);
  const auto normal = std::make_shared<std::normal_distribution<double>>();
  cases.push_back({"mt19937_64 and normal_distribution", 4.0 * static_cast<double>(count), [=] {
                     for (int i = 0; i < 4; ++i) {
                       for (auto& sample : *samples) sample = (*normal)(*random);
                     }
                     keep(samples->data());
                   }});
  return cases;
}

Case key_of_a_block() {
  const auto keys =
      std::make_shared<KeyRing>(std::array{Segment{StepIndex{0}, {1}}}, 1, std::pmr::get_default_resource());
  const auto keystream = std::make_shared<Keystream>();
  const auto block = std::make_shared<std::uint64_t>(0);
  return {"key of a block", 1000, [=] {
            for (int i = 0; i < 1000; ++i) {
              keystream->set_key(keys->cipher_key(*block));
              keys->forget_before((*block)++);
            }
          }};
}

void add_sources(Report& report, std::size_t dimension, std::size_t rounds) {
  const Correlation independent{Independent{}};
  const Correlation rational{Rational::nu_ftrl(Damping{1e-4}, 6)};
  const auto name = [dimension](const char* what) { return fmt::format("{}, d = {}", what, dimension); };
  std::vector<Case> cases;
  for (const std::uint64_t step : {std::uint64_t{0}, late_step}) {
    const char* const when = step == 0 ? "" : " from step 1e7";
    cases.push_back(
        source_case(name(fmt::format("independent{}", when).c_str()), independent, 0, dimension, step, false));
    cases.push_back(
        source_case(name(fmt::format("rational m = 6{}", when).c_str()), rational, 6, dimension, step, false));
  }
  cases.push_back(source_case(name("independent on the grid"), independent, 0, dimension, 0, true));
  cases.push_back(source_case(name("rational m = 6 on the grid"), rational, 6, dimension, 0, true));
  report.add(measure(cases, rounds), "sample");

  const std::string bar = dimension == 1 ? "" : "at most 1.35";
  report.add_ratio(name("rational over independent"), name("rational m = 6"), name("independent"), bar);
  report.add_ratio(name("rational over independent from step 1e7"), name("rational m = 6 from step 1e7"),
                   name("independent from step 1e7"), bar);
  report.add_ratio(name("rational over independent on the grid"), name("rational m = 6 on the grid"),
                   name("independent on the grid"), bar);
}

int run(int argc, char** argv) {
  const std::size_t rounds = asked("ROUNDS", 21);
  const std::size_t only = asked("DIMENSION", 0);
  const std::vector<std::size_t> dimensions =
      only > 0 ? std::vector<std::size_t>{only} : std::vector<std::size_t>{1, 10, 128, 1000};
  Report report("noise");
  report.add(measure(parts(), rounds), "sample");
  report.add(measure({key_of_a_block()}, rounds), "block");
  for (const std::size_t dimension : dimensions) add_sources(report, dimension, rounds);
  for (const std::size_t dimension : dimensions) {
    report.add_ratio(fmt::format("mt19937_64 and normal_distribution over keyed Gaussian, d = {}", dimension),
                     "mt19937_64 and normal_distribution", fmt::format("independent, d = {}", dimension),
                     "at least 4");
  }
  return report.write(argc, argv);
}

}  // namespace
}  // namespace nustream::benchmarks

int main(int argc, char** argv) {
  return nustream::benchmarks::run(argc, argv);
}
