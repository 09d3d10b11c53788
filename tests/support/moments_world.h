// What tests of running sums share: designs, settings, random rows and noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "nustream/moments/lane.h"

namespace nustream::tests {

inline noise::Correlation forgetful(double nu) {
  return noise::Correlation{noise::Rational::nu_ftrl(Damping{nu})};
}

/// Plain sums of a linear model with `inputs` features, in two stages, with noise of a quarter of a radius in each
/// step.
inline moments::Settings linear_settings(std::size_t inputs, std::uint64_t every,
                                         noise::Correlation correlation = forgetful(1e-3)) {
  moments::Design design;
  design.shape.inputs = inputs;
  return {.mechanism = {design, {1, 1, every}, std::move(correlation)},
          .sigmas = std::vector<NoiseMultiplier>(moments::noised_blocks(design).size(), NoiseMultiplier{0.25}),
          .stages = {{0, {2, 1, 3}}, {4, {2, 1, 1.5}}},
          .start = std::vector<double>(inputs)};
}

/// The same settings for another design, with a multiplier for each noised block and a centre for each response.
inline moments::Settings redesigned(moments::Settings settings, const moments::Design& design) {
  settings.mechanism.design = design;
  settings.sigmas.assign(moments::noised_blocks(design).size(), NoiseMultiplier{0.25});
  settings.start.assign(design.shape.coefficients(), 0.125);
  return settings;
}

/// Rows, and the noise of `steps` steps for each noised block.
struct SumsWorld {
  record::RowBatch rows;
  std::vector<std::vector<std::int64_t>> noise;
};

/// Normal rows. Every tenth is a row of zeros, and another tenth are twenty times as long. The first input is 1.
inline SumsWorld sums_world(const moments::Settings& settings, std::size_t steps, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const moments::Design& design = settings.mechanism.design;
  SumsWorld world;
  world.rows.dimension = design.shape.row();
  for (std::size_t i = 0; i < steps * settings.mechanism.participation.batch; ++i) {
    const auto kind = random() % 10;
    const double length = kind == 0 ? 0.0 : kind == 1 ? 20.0 : 1.0;
    double sum = 0;
    for (std::size_t j = 0; j < world.rows.dimension; ++j) {
      const double entry = length * (j == 0 ? 1.0 : normal(random));
      world.rows.x.push_back(entry);
      sum += entry;
    }
    world.rows.y.push_back(kind == 0 ? 0.0 : 0.5 * sum + normal(random));
    world.rows.next.push_back(1000 + 3 * (i + 1));
  }
  const std::vector<moments::Block> noised = moments::noised_blocks(design);
  const std::vector<noise::Grid> grids = moments::grids(settings);
  for (std::size_t b = 0; b < noised.size(); ++b) {
    const double stddev = noise_stddev(settings.sigmas[b], moments::displacement(design, noised[b])).value();
    std::vector<std::int64_t> units;
    for (std::size_t i = 0; i < steps * moments::entries(design, noised[b]); ++i) {
      units.push_back(static_cast<std::int64_t>(stddev * normal(random) / grids[b].spacing()));
    }
    world.noise.push_back(std::move(units));
  }
  return world;
}

/// Advances the lane by rows [begin, end) of the world.
inline void advance(moments::Lane& lane, const moments::Settings& settings, const SumsWorld& world, std::size_t begin,
                    std::size_t end, moments::Releases& releases) {
  const std::vector<moments::Block> noised = moments::noised_blocks(settings.mechanism.design);
  std::vector<noise::GridNoise> noise;
  for (std::size_t b = 0; b < noised.size(); ++b) {
    const std::size_t size = moments::entries(settings.mechanism.design, noised[b]);
    noise.push_back(
        {StepIndex{lane.steps().value()}, size, std::span(world.noise[b]).subspan(lane.steps().value() * size)});
  }
  lane.advance(slice(world.rows, begin, end), noise, releases);
}

}  // namespace nustream::tests
