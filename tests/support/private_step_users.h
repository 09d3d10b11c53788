// Everything that clips a gradient or adds a step's noise, behind one interface that shows what each makes of a
// record.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "descent/gradient_sum.h"
#include "descent_gradient.h"
#include "nustream/descent/matrix_loop.h"
#include "nustream/descent/second_moments.h"
#include "nustream/descent/two_stage_loop.h"
#include "nustream/model/multinomial.h"

namespace nustream::tests {

/// A record whose gradient is slopes ⊗ x, column by column.
struct Record {
  std::vector<double> slopes;
  std::vector<double> x;
};

/// Clips a record with `record.slopes.size()` ≤ columns_max, and gives its integers in units of the grid. A user that
/// cannot be given slopes writes into `record` which ones it used.
struct ClipUser {
  std::string name;
  std::size_t columns_max;
  bool overflow_is_zero;  ///< a gradient with an entry beyond the numbers counts as unusable
  std::function<std::vector<std::int64_t>(Record& record, const noise::Grid& grid)> units;
};

/// Takes a step over one record, and gives Σu + z in units of the grid, as the iterate or the mean shows it.
struct NoiseUser {
  std::string name;
  std::size_t columns_max;
  bool overflow_is_zero;
  std::function<std::vector<double>(Record& record, const noise::Grid& grid, std::span<const std::int64_t> noise)>
      noisy;
};

/// What an iterate that began at 0 shows of its step: the sign is turned, and 1/scale is a power of two.
inline std::vector<double> shown(std::span<const double> moved, double scale) {
  std::vector<double> noisy;
  for (const double entry : moved) noisy.push_back(entry * scale);
  return noisy;
}

/// The kernels of one predictor: at θ = 0 the linear loss has the slope −y. `zeros` rows without a gradient come
/// first.
inline std::vector<double> noisy_of_kernel(const descent::kernel::Variant& variant, std::size_t zeros,
                                           const Record& record, const noise::Grid& grid,
                                           std::span<const std::int64_t> noise) {
  const std::size_t d = record.x.size();
  std::vector<double> rows(zeros * d);
  rows.insert(rows.end(), record.x.begin(), record.x.end());
  std::vector<double> targets(zeros);
  targets.push_back(-record.slopes[0]);
  const OneStep step =
      one_step(variant, {model::Loss::Kind::linear}, grid, std::vector<double>(d), rows, targets, noise);
  return shown(std::span(step.theta).first(d), -1);
}

inline std::vector<double> noisy_of_matrix_loop(Record& record, const noise::Grid& grid,
                                                std::span<const std::int64_t> noise) {
  const std::size_t classes = record.slopes.size() + 1;
  const double label = record.slopes[0] > 0 ? 0 : 1;
  // At θ = 0 all predictions are 0.
  model::Multinomial{classes}.slopes(std::vector<double>(record.slopes.size()), label, record.slopes);
  descent::StepRule rule;
  rule.loss = {.kind = model::Loss::Kind::multinomial, .classes = classes};
  descent::MatrixLoop loop(rule, grid, std::vector<double>(noise.size()));
  const std::vector<double> y{label};
  const std::vector<double> ones{1};
  loop.run({record.x, y, noise, ones, ones}, {});
  return shown(loop.theta(), -1 / grid.spacing());
}

/// The first stage's gradient is z (Θᵀz − x)ᵀ, where z are instruments and x regressors. At Θ = 0 the slopes are −x.
inline std::vector<double> noisy_of_first_stage(const Record& record, const noise::Grid& grid,
                                                std::span<const std::int64_t> noise) {
  const std::size_t e = record.slopes.size();
  descent::TwoStageRule rule;
  rule.shape = {record.x.size(), 0, e};
  descent::TwoStageLoop loop(rule, grid, &grid, std::vector<double>(rule.shape.dimension()));
  std::vector<double> row = record.x;
  for (const double slope : record.slopes) row.push_back(-slope);
  const std::vector<std::int64_t> none(e);
  const std::vector<double> y{0};
  const std::vector<double> ones{1};
  loop.run({row, y, none, noise, ones, ones, ones}, {});
  return shown(loop.theta().subspan(e), -1 / grid.spacing());
}

/// The second stage's gradient is x̂ (x̂ᵀβ − y), where x̂ are the controls and what the first stage fits, which is 0 at
/// Θ = 0. The slope is −y.
inline std::vector<double> noisy_of_second_stage(const Record& record, const noise::Grid& grid,
                                                 std::span<const std::int64_t> noise) {
  const std::size_t controls = record.x.size();
  descent::TwoStageRule rule;
  rule.shape = {controls + 1, controls, 1};
  descent::TwoStageLoop loop(rule, grid, &grid, std::vector<double>(rule.shape.dimension()));
  std::vector<double> row = record.x;
  row.resize(controls + 2);
  std::vector<std::int64_t> of_fit(noise.begin(), noise.end());
  of_fit.push_back(0);
  const std::vector<std::int64_t> none(controls + 1);
  const std::vector<double> y{-record.slopes[0]};
  const std::vector<double> ones{1};
  loop.run({row, y, of_fit, none, ones, ones, ones}, {});
  return shown(loop.theta().first(controls), -1 / grid.spacing());
}

/// The mean of one step is that step.
inline std::vector<double> noisy_of_mean(const Record& record, const noise::Grid& grid,
                                         std::span<const std::int64_t> noise) {
  std::size_t dimension = 0;
  while (descent::triangle_size(dimension) < record.x.size()) ++dimension;
  descent::PrivateMean mean(grid, dimension, 1);
  mean.add(record.x, record.slopes[0]);
  mean.step(noise, 1);
  return shown(mean.mean(), 1 / grid.spacing());
}

/// All that add noise. Records of triangle_size() entries suit all of them.
inline std::vector<NoiseUser> noise_users() {
  std::vector<NoiseUser> users{
      {"MatrixLoop", 3, true, noisy_of_matrix_loop},
      {"FirstStage", 3, true, noisy_of_first_stage},
      {"SecondStage", 1, true, noisy_of_second_stage},
      {"PrivateMean", 1, true, noisy_of_mean},
  };
  for (const descent::kernel::Variant& variant : descent::kernel::variants()) {
    if (!variant.available) continue;
    for (const std::size_t zeros : {0U, 2U}) {
      users.push_back(
          {"Kernel_" + std::string(variant.name) + (zeros > 0 ? "_minibatch" : ""), 1, false,
           [&variant, zeros](Record& record, const noise::Grid& grid, std::span<const std::int64_t> noise) {
             return noisy_of_kernel(variant, zeros, record, grid, noise);
           }});
    }
  }
  return users;
}

/// What a two-stage kernel adds up for the first stage, whose gradient is as in noisy_of_first_stage().
inline std::vector<std::int64_t> units_of_two_stage_kernel(const descent::kernel::Variant& variant,
                                                           const Record& record, const noise::Grid& grid) {
  using descent::kernel::padded;
  const std::size_t q = record.x.size();
  const std::size_t e = record.slopes.size();
  std::vector<double> row = record.x;
  for (const double slope : record.slopes) row.push_back(-slope);
  const std::vector<double> theta(e + e * q);
  const double y = 0;
  descent::GradientSum second(grid, 1, e);
  descent::GradientSum first(grid, e, q);
  std::vector<std::int64_t> second_units(padded(e));
  std::vector<std::int64_t> first_units(e * padded(q));
  std::vector<double> fitted(padded(e));
  std::vector<double> residuals(padded(e));
  const double scale = first.units_per_gradient();
  descent::kernel::TwoStageJob job{q,
                                   0,
                                   e,
                                   1,
                                   row.data(),
                                   &y,
                                   theta.data(),
                                   theta.data() + e,
                                   {&second, second_units.data(), scale, second.radius()},
                                   {&first, first_units.data(), scale, first.radius()},
                                   nullptr,
                                   fitted.data(),
                                   residuals.data(),
                                   0};
  variant.run_two_stage(job);
  first.take(first_units, padded(q));
  return {first.units().begin(), first.units().end()};
}

inline std::vector<ClipUser> clip_users() {
  std::vector<ClipUser> users{
      {"Plain", 1, false,
       [](Record& record, const noise::Grid& grid) {
         std::vector<std::int64_t> units(record.x.size());
         static_cast<void>(descent::clip_to_grid(record.slopes[0], record.x, grid, units));
         return units;
       }},
      {"GradientSum", 3, true,
       [](Record& record, const noise::Grid& grid) {
         descent::GradientSum sum(grid, record.slopes.size(), record.x.size());
         static_cast<void>(sum.add(record.slopes, record.x));
         return std::vector<std::int64_t>(sum.units().begin(), sum.units().end());
       }},
  };
  for (const descent::kernel::Variant& variant : descent::kernel::variants()) {
    if (!variant.available) continue;
    const std::string name(variant.name);
    users.push_back({"KernelSum_" + name, 1, false, [&variant](Record& record, const noise::Grid& grid) {
                       return gradient_units(variant, {model::Loss::Kind::linear}, grid,
                                             std::vector<double>(record.x.size()), record.x, -record.slopes[0]);
                     }});
    users.push_back({"TwoStageKernel_" + name, 3, true, [&variant](Record& record, const noise::Grid& grid) {
                       return units_of_two_stage_kernel(variant, record, grid);
                     }});
  }
  for (const NoiseUser& step : noise_users()) {
    users.push_back({"Step_" + step.name, step.columns_max, step.overflow_is_zero,
                     [step](Record& record, const noise::Grid& grid) {
                       const std::vector<std::int64_t> none(record.slopes.size() * record.x.size());
                       std::vector<std::int64_t> units;
                       for (const double unit : step.noisy(record, grid, none)) {
                         units.push_back(static_cast<std::int64_t>(unit));
                       }
                       return units;
                     }});
  }
  return users;
}

}  // namespace nustream::tests
