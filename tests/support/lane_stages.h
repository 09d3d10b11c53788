// What tests of lanes with several stages share: grids, noise and rows for any settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "lane_world.h"

namespace nustream::tests {

inline std::vector<noise::Grid> grids_for(const lane::Settings& settings, double stddev = 1.0) {
  std::vector<noise::Grid> grids;
  for (const lane::Stage& stage : lane::stages(settings)) grids.emplace_back(NoiseStddev{stddev}, 1.0, stage.clip);
  return grids;
}

/// Rows, and grid integers for every stage and step.
struct StagedWorld {
  record::RowBatch rows;
  std::vector<std::size_t> dimensions;
  std::vector<std::vector<std::int64_t>> units;

  /// The noise from a step on, one entry for each stage.
  [[nodiscard]] std::vector<noise::GridNoise> noise_from(std::uint64_t step) const {
    std::vector<noise::GridNoise> stages;
    for (std::size_t i = 0; i < units.size(); ++i) {
      stages.push_back({StepIndex{step}, dimensions[i], std::span(units[i]).subspan(step * dimensions[i])});
    }
    return stages;
  }
};

/// Rows as random_world() makes them, with labels where the loss needs them, and noise of `units` spacings.
inline StagedWorld staged_world(const lane::Settings& settings, std::size_t steps, std::uint64_t seed, double units) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  StagedWorld world;
  world.rows.dimension = lane::row_entries(settings);
  const bool labels = settings.loss.kind == model::Loss::Kind::multinomial;
  for (std::size_t i = 0; i < steps * settings.minibatch; ++i) {
    const auto kind = random() % 10;
    const double length = kind == 0 ? 0.0 : kind == 1 ? 20.0 : 1.0;
    for (std::size_t j = 0; j < world.rows.dimension; ++j) world.rows.x.push_back(length * normal(random));
    const double y = labels ? static_cast<double>(random() % settings.loss.classes) : 2 * normal(random);
    world.rows.y.push_back(kind == 0 ? 0.0 : y);
    world.rows.next.push_back(i + 1);
  }
  for (const lane::Stage& stage : lane::stages(settings)) {
    world.dimensions.push_back(stage.dimension);
    world.units.emplace_back();
    for (std::size_t i = 0; i < steps * stage.dimension; ++i) {
      world.units.back().push_back(static_cast<std::int64_t>(units * normal(random)));
    }
  }
  return world;
}

/// Settings of `d` features and three classes.
inline lane::Settings multinomial_settings(std::size_t d, double clip = 1.0) {
  return settings_for(2 * d, {.kind = model::Loss::Kind::multinomial, .classes = 3}, clip);
}

/// Settings with two instruments for each endogenous regressor, and `controls` controls.
inline lane::Settings two_stage_settings(std::size_t endogenous, std::size_t controls, double clip = 1.0,
                                         double first_clip = 0.7) {
  const descent::TwoStageShape shape{2 * endogenous + controls, controls, endogenous};
  lane::Settings settings = settings_for(shape.dimension(), {}, clip);
  settings.first_stage =
      lane::FirstStage{shape, ClipNorm{first_clip}, descent::Schedule{descent::Constant{StepSize{0.03}}}, 0.01};
  return settings;
}

/// The same settings where the target alone is private.
inline lane::Settings public_two_stage_settings(std::size_t endogenous, std::size_t controls, double clip = 1.0) {
  lane::Settings settings = two_stage_settings(endogenous, controls, clip);
  settings.first_stage->clip.reset();
  return settings;
}

}  // namespace nustream::tests
