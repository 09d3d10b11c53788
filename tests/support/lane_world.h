// What tests of the lane share: random rows and noise, settings, and whole runs.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "nustream/lane/lane.h"

namespace nustream::tests {

/// Rows and grid noise for `steps` steps of `settings`, from a seed.
struct World {
  record::RowBatch rows;
  std::vector<std::int64_t> noise;
};

inline lane::Settings settings_for(std::size_t dimension, model::Loss loss, double clip = 1.0,
                                   double step_size = 0.05) {
  return {.dimension = dimension,
          .loss = loss,
          .l2 = 0,
          .clip = ClipNorm{clip},
          .schedule = descent::Schedule{descent::Constant{StepSize{step_size}}},
          .projection = {},
          .averaging = {},
          .minibatch = 1,
          .release_every = 1,
          .start = std::vector<double>(dimension)};
}

/// A grid whose noise has standard deviation `stddev`.
inline noise::Grid grid_for(const lane::Settings& settings, double stddev = 1.0) {
  return {NoiseStddev{stddev}, 1.0, settings.clip};
}

/// Standard normal rows. Every tenth is a row of zeros (a bad record), and another tenth are twenty times as long.
/// The targets suit the loss, and the noise's standard deviation is `units` grid spacings.
inline World random_world(const lane::Settings& settings, std::size_t steps, std::uint64_t seed, double units) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  World world;
  world.rows.dimension = settings.dimension;
  for (std::size_t i = 0; i < steps * settings.minibatch; ++i) {
    const auto kind = random() % 10;
    const double length = kind == 0 ? 0.0 : kind == 1 ? 20.0 : 1.0;
    for (std::size_t j = 0; j < settings.dimension; ++j) world.rows.x.push_back(length * normal(random));
    const double y = settings.loss.kind == model::Loss::Kind::logistic  ? static_cast<double>(random() % 2)
                     : settings.loss.kind == model::Loss::Kind::poisson ? static_cast<double>(random() % 5)
                                                                        : 2 * normal(random);
    world.rows.y.push_back(kind == 0 ? 0.0 : y);
    world.rows.next.push_back(1000 + i + 1);
  }
  for (std::size_t i = 0; i < steps * settings.dimension; ++i) {
    world.noise.push_back(static_cast<std::int64_t>(units * normal(random)));
  }
  return world;
}

/// Rows of `dimension` entries each, whose positions count from `position` on.
inline record::RowBatch rows_of(std::size_t dimension, std::vector<double> x, std::vector<double> y,
                                std::uint64_t position = 0) {
  record::RowBatch rows;
  rows.dimension = dimension;
  rows.x = std::move(x);
  rows.y = std::move(y);
  for (std::size_t i = 0; i < rows.y.size(); ++i) rows.next.push_back(position + i + 1);
  return rows;
}

/// The noise of `world` from the lane's next step on.
inline noise::GridNoise noise_from(const World& world, const lane::Lane& lane, std::size_t dimension) {
  const std::uint64_t next = lane.steps().value();
  return {StepIndex{next}, dimension, std::span(world.noise).subspan(next * dimension)};
}

/// Advances by the next `steps` steps of `world`.
inline void advance(lane::Lane& lane, const lane::Settings& settings, const World& world, std::size_t steps,
                    lane::Releases& releases) {
  const std::size_t begin = lane.steps().value() * settings.minibatch;
  lane.advance(slice(world.rows, begin, begin + steps * settings.minibatch),
               noise_from(world, lane, settings.dimension), releases);
}

/// All that releases show, as bits, so that NaNs and signed zeros can be compared.
inline std::vector<std::uint64_t> bits(const lane::Releases& releases) {
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < releases.size(); ++i) {
    const lane::Release release = releases[i];
    all.push_back(release.steps.value());
    all.push_back(release.position.value());
    for (const double entry : release.theta) all.push_back(std::bit_cast<std::uint64_t>(entry));
    for (const double entry : release.average) all.push_back(std::bit_cast<std::uint64_t>(entry));
  }
  return all;
}

/// Settings by number, which between them have each kind of loss, schedule, projection and average. Property tests
/// walk through the numbers.
inline lane::Settings random_settings(std::uint64_t seed) {
  std::mt19937_64 random(seed * 7919 + 1);
  const auto pick = [&](std::uint64_t choices) { return random() % choices; };
  constexpr std::size_t dimensions[] = {1, 2, 3, 7, 8, 9, 10, 16, 17, 24, 31, 32, 33, 64, 65, 100};
  const std::size_t d = dimensions[pick(std::size(dimensions))];
  auto settings =
      settings_for(d, {model::single_predictor_kinds()[pick(6)], 0.7}, 0.5 + static_cast<double>(pick(3)));
  settings.l2 = 0.1 * static_cast<double>(pick(3));
  const StepSize size{0.05};
  const descent::Schedule::Family schedules[] = {descent::Constant{size}, descent::InverseSqrt{size, 10},
                                                 descent::Inverse{size, 20}, descent::WarmUp{size, 8},
                                                 descent::Piecewise{{{0, size}, {9, StepSize{0.01}}}}};
  settings.schedule = descent::Schedule{schedules[pick(5)]};
  const descent::Projection::Family projections[] = {descent::Unbounded{}, descent::Ball{0.3},
                                                     descent::Box{{-0.1}, {0.2}}};
  settings.projection = descent::Projection{projections[pick(3)]};
  const descent::Averaging averages[] = {
      {}, {descent::Averaging::Kind::tail, pick(30), 0.5}, {descent::Averaging::Kind::exponential, pick(30), 0.9}};
  settings.averaging = averages[pick(3)];
  settings.minibatch = 1 + pick(3) * 2;
  settings.release_every = 1 + pick(7);
  for (double& entry : settings.start) entry = 0.01 * static_cast<double>(pick(20));
  constexpr double momenta[] = {0, 0, 0.5, 0.95};
  settings.momentum = momenta[pick(4)];
  if (pick(4) == 0) {
    settings.schedule = descent::Schedule{descent::Cooldown{
        std::make_shared<const descent::Schedule>(settings.schedule), 0.5, 0.05, StepCount{20 + pick(100)}}};
  }
  return settings;
}

}  // namespace nustream::tests
