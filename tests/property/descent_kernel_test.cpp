// Every instruction set takes the same steps to the bit. This lets a fast path be checked against a plain one.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "descent/gradient_sum.h"
#include "descent/kernel.h"
#include "nustream/descent/clip.h"
#include "nustream/descent/packed.h"
#include "nustream/descent/projection.h"
#include "nustream/noise/grid.h"

namespace nustream::descent::kernel {
namespace {

struct Outcome {
  std::vector<std::uint64_t> theta, average;
  std::uint64_t clipped;
  bool operator==(const Outcome&) const = default;
};

struct Case {
  std::size_t dimension;
  model::Loss loss;
  std::size_t minibatch;
  Projection projection;
  std::int64_t noise_scale;
};

std::vector<std::uint64_t> bits(const double* values, std::size_t count) {
  std::vector<std::uint64_t> all;
  for (std::size_t j = 0; j < count; ++j) all.push_back(std::bit_cast<std::uint64_t>(values[j]));
  return all;
}

Packed<double> side(const std::vector<double>& bound, std::size_t dimension) {
  Packed<double> all(packed_size(dimension));
  std::fill_n(all.begin(), dimension, bound[0]);
  return all;
}

Outcome run(const Variant& variant, const Case& setting, std::uint64_t seed) {
  constexpr std::size_t steps = 60;
  const std::size_t d = setting.dimension;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> x(steps * setting.minibatch * d);
  std::vector<double> y(steps * setting.minibatch);
  std::vector<std::int64_t> noise(steps * d);
  for (double& entry : x) entry = normal(random);
  for (double& entry : y) entry = normal(random);
  for (std::int64_t& unit : noise) {
    unit = static_cast<std::int64_t>(normal(random) * static_cast<double>(setting.noise_scale));
  }
  x[0] = 1e200;  // one record that the fast path leaves to the plain one
  std::vector<double> weights(y.size());
  for (double& weight : weights) weight = std::fabs(normal(random));
  const bool is_weighted = d % 2 == 1;
  const std::vector<double> step_sizes(steps, 0.05);
  std::vector<double> gains(steps, 0.25);
  gains[0] = 0;
  const noise::Grid grid(NoiseStddev{1}, 1.0, ClipNorm{1.5});
  Packed<double> theta(packed_size(d));
  std::fill_n(theta.begin(), d, 0.125);
  Packed<std::int64_t> sum(packed_size(d));
  std::vector<std::int64_t> units(d);
  std::vector<double> average(d);
  const auto* const box = std::get_if<Box>(&setting.projection.family());
  const auto* const ball = std::get_if<Ball>(&setting.projection.family());
  const Packed<double> lower = box == nullptr ? Packed<double>{} : side(box->lower, d);
  const Packed<double> upper = box == nullptr ? Packed<double>{} : side(box->upper, d);
  Job job{.loss = setting.loss,
          .dimension = d,
          .steps = steps,
          .minibatch = setting.minibatch,
          .x = x.data(),
          .y = y.data(),
          .noise = noise.data(),
          .step_sizes = step_sizes.data(),
          .average_gains = gains.data(),
          .grid = &grid,
          .units_per_gradient = 1 / grid.spacing(),
          .radius = clip_radius_in_units(grid, d),
          .gradient_per_unit = grid.spacing() / static_cast<double>(setting.minibatch),
          .l2 = 0.1,
          .bounds = {.ball_radius = ball == nullptr ? 0.0 : ball->radius,
                     .lower = box == nullptr ? nullptr : lower.data(),
                     .upper = box == nullptr ? nullptr : upper.data(),
                     .projection = &setting.projection},
          .theta = theta.data(),
          .sum = sum.data(),
          .units = units.data(),
          .average = average.data(),
          .clipped = 0,
          .weights = is_weighted ? weights.data() : nullptr};
  variant.run(job);
  // Kernels may assume that the padding of vectors is zero, so they have to leave it zero.
  for (std::size_t j = d; j < theta.size(); ++j) EXPECT_EQ(std::bit_cast<std::uint64_t>(theta[j]), 0U);
  return {bits(theta.data(), d), bits(average.data(), d), job.clipped};
}

TEST(Kernels, GiveTheSameBitsOnEveryInstructionSet) {
  const Projection projections[] = {Projection{}, Projection{Ball{0.4}}, Projection{Box{{-0.1}, {0.3}}}};
  std::size_t compared = 0;
  constexpr std::size_t dimensions[] = {1, 2, 7, 8, 9, 10, 15, 16, 17, 24, 25, 32, 33, 40, 64, 71, 72, 128, 301};
  for (const std::size_t d : dimensions) {
    for (const model::Loss::Kind kind : model::single_predictor_kinds()) {
      for (const std::size_t minibatch : {1U, 4U}) {
        // Noise reaches up to the ends of int64, where sums saturate and where the conversion of int64 to double
        // rounds.
        for (const std::int64_t noise_scale : {std::int64_t{1} << 32, std::int64_t{1} << 60}) {
          const Case setting{d, {kind, 0.7}, minibatch, projections[(d + minibatch) % 3], noise_scale};
          const auto& baseline = variants()[variant_count - 1];
          const Outcome expected = run(baseline, setting, d);
          for (const Variant& variant : variants()) {
            if (!variant.available) continue;
            EXPECT_EQ(run(variant, setting, d), expected) << variant.name << ' ' << model::name(kind) << ' ' << d;
            ++compared;
          }
        }
      }
    }
  }
  EXPECT_GE(compared, 380U);
}

/// One step of a two-stage model: both sums, as every instruction set adds them.
std::vector<std::int64_t> two_stage_sums(const Variant& variant, std::size_t endogenous, std::size_t controls,
                                         std::size_t instruments, bool is_public, std::uint64_t seed) {
  constexpr std::size_t records = 40;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const std::size_t p = controls + endogenous;
  std::vector<double> rows(records * (instruments + endogenous));
  std::vector<double> y(records);
  std::vector<double> beta(p);
  std::vector<double> first(endogenous * instruments);
  for (std::vector<double>* all : {&rows, &y, &beta, &first}) {
    for (double& entry : *all) entry = normal(random);
  }
  rows[0] = 1e200;  // one record outside the fast path
  y[3] = std::nan("");
  std::fill_n(rows.begin() + static_cast<std::ptrdiff_t>(5 * (instruments + endogenous)), instruments + endogenous,
              0);
  std::vector<double> weights(records);
  for (double& weight : weights) weight = std::fabs(normal(random));
  const noise::Grid grid(NoiseStddev{1}, 1.0, ClipNorm{1.5});
  GradientSum second_sum(grid, 1, p);
  GradientSum first_sum(grid, endogenous, instruments);
  std::vector<double> public_sum(endogenous * padded(instruments));
  std::vector<double> fitted(padded(p));
  std::vector<double> residuals(padded(endogenous));
  std::vector<std::int64_t> units(padded(p));
  std::vector<std::int64_t> first_units(endogenous * padded(instruments));
  const auto target = [](GradientSum& sum, std::vector<std::int64_t>& to) {
    return OuterTarget{&sum, to.data(), sum.units_per_gradient(), sum.radius()};
  };
  TwoStageJob job{instruments,
                  controls,
                  endogenous,
                  records,
                  rows.data(),
                  y.data(),
                  beta.data(),
                  first.data(),
                  target(second_sum, units),
                  target(first_sum, first_units),
                  is_public ? public_sum.data() : nullptr,
                  fitted.data(),
                  residuals.data(),
                  0,
                  seed % 2 == 0 ? nullptr : weights.data()};
  variant.run_two_stage(job);
  second_sum.take(units, padded(p));
  first_sum.take(first_units, padded(instruments));
  std::vector<std::int64_t> all(second_sum.units().begin(), second_sum.units().end());
  all.insert(all.end(), first_sum.units().begin(), first_sum.units().end());
  for (const double entry : public_sum) all.push_back(std::bit_cast<std::int64_t>(entry));
  all.push_back(static_cast<std::int64_t>(job.clipped));
  return all;
}

TEST(Kernel, TwoStagesAreTheSameOnEveryInstructionSet) {
  std::uint64_t seed = 0;
  for (const std::size_t endogenous : {1U, 2U, 9U}) {
    for (const std::size_t controls : {0U, 1U, 7U, 8U}) {
      for (const bool is_public : {false, true}) {
        const std::size_t instruments = controls + endogenous + seed % 3;
        ++seed;
        const auto expected =
            two_stage_sums(variants()[variant_count - 1], endogenous, controls, instruments, is_public, seed);
        for (const Variant& variant : variants()) {
          if (!variant.available) continue;
          EXPECT_EQ(two_stage_sums(variant, endogenous, controls, instruments, is_public, seed), expected)
              << variant.name << " " << endogenous << " " << controls;
        }
      }
    }
  }
}

}  // namespace
}  // namespace nustream::descent::kernel
