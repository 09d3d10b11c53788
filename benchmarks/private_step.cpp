// Measures what the private step costs wherever it is taken: in the kernels of every instruction set that this
// machine has, for one predictor and for two stages, in the matrix loop, and in the second moments. Noise is at hand,
// and rows stay in the cache.
//
// ROUNDS in the environment is the number of timings of each case (101).
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "descent/gradient_sum.h"
#include "descent/kernel.h"
#include "harness.h"
#include "nustream/descent/clip.h"
#include "nustream/descent/matrix_loop.h"
#include "nustream/descent/packed.h"
#include "nustream/descent/second_moments.h"

namespace {

using namespace nustream;
using descent::kernel::padded;

constexpr std::size_t records = 2048;
const noise::Grid grid(NoiseStddev{1.0}, 1.0, ClipNorm{3.0});

std::vector<double> normals(std::size_t count) {
  std::mt19937_64 random(count);
  std::normal_distribution<double> normal;
  std::vector<double> all(count);
  for (double& entry : all) entry = normal(random);
  return all;
}

std::vector<std::int64_t> grid_noise(std::size_t count) {
  std::vector<std::int64_t> units;
  for (const double entry : normals(count)) units.push_back(static_cast<std::int64_t>(entry * 0x1p32));
  return units;
}

/// What a job of one predictor points to.
struct Linear {
  std::vector<double> x, y, step_sizes;
  std::vector<std::int64_t> noise, units;
  descent::Packed<double> theta;
  descent::Packed<std::int64_t> sum;
  descent::Projection projection;
};

benchmarks::Case linear_case(const descent::kernel::Variant& variant, std::size_t d, std::size_t minibatch) {
  const std::size_t steps = records / minibatch;
  const auto data = std::make_shared<Linear>(
      Linear{normals(records * d), normals(records), std::vector<double>(steps, 1e-4), grid_noise(steps * d),
             std::vector<std::int64_t>(d), descent::Packed<double>(descent::packed_size(d)),
             descent::Packed<std::int64_t>(descent::packed_size(d)), descent::Projection{}});
  const std::string name = std::string(variant.name) + ", d = " + std::to_string(d) +
                           (minibatch > 1 ? ", minibatches of " + std::to_string(minibatch) : "");
  return {name, static_cast<double>(records), [=, &variant] {
            descent::kernel::Job job{
                .loss = {model::Loss::Kind::linear},
                .dimension = d,
                .steps = steps,
                .minibatch = minibatch,
                .x = data->x.data(),
                .y = data->y.data(),
                .noise = data->noise.data(),
                .step_sizes = data->step_sizes.data(),
                .average_gains = nullptr,
                .grid = &grid,
                .units_per_gradient = 1 / grid.spacing(),
                .radius = descent::clip_radius_in_units(grid, d),
                .gradient_per_unit = grid.spacing() / static_cast<double>(minibatch),
                .l2 = 0,
                .bounds = {.ball_radius = 0, .lower = nullptr, .upper = nullptr, .projection = &data->projection},
                .theta = data->theta.data(),
                .sum = data->sum.data(),
                .units = data->units.data(),
                .average = nullptr,
                .clipped = 0};
            variant.run(job);
            benchmarks::keep(data->theta.data());
          }};
}

/// What a job of two stages points to.
struct TwoStages {
  descent::GradientSum second, first;
  std::vector<double> rows, y, theta, fitted, residuals;
  std::vector<std::int64_t> second_units, first_units;
};

benchmarks::Case two_stage_case(const descent::kernel::Variant& variant) {
  constexpr std::size_t q = 12;
  constexpr std::size_t controls = 2;
  constexpr std::size_t e = 2;
  constexpr std::size_t p = controls + e;
  const auto data = std::make_shared<TwoStages>(
      TwoStages{descent::GradientSum(grid, 1, p), descent::GradientSum(grid, e, q), normals(records * (q + e)),
                normals(records), normals(p + e * q), std::vector<double>(padded(p)), std::vector<double>(padded(e)),
                std::vector<std::int64_t>(padded(p)), std::vector<std::int64_t>(e * padded(q))});
  return {std::string(variant.name) + ", two stages", static_cast<double>(records), [=, &variant] {
            const double scale = data->first.units_per_gradient();
            descent::kernel::TwoStageJob job{q,
                                             controls,
                                             e,
                                             records,
                                             data->rows.data(),
                                             data->y.data(),
                                             data->theta.data(),
                                             data->theta.data() + p,
                                             {&data->second, data->second_units.data(), scale, data->second.radius()},
                                             {&data->first, data->first_units.data(), scale, data->first.radius()},
                                             nullptr,
                                             data->fitted.data(),
                                             data->residuals.data(),
                                             0};
            variant.run_two_stage(job);
            benchmarks::keep(data->first_units.data());
          }};
}

benchmarks::Case matrix_case() {
  constexpr std::size_t d = 10;
  constexpr std::size_t classes = 3;
  descent::StepRule rule;
  rule.loss = {.kind = model::Loss::Kind::multinomial, .classes = classes};
  const auto loop = std::make_shared<descent::MatrixLoop>(rule, grid, std::vector<double>(d * (classes - 1)));
  std::vector<double> labels;
  for (std::size_t i = 0; i < records; ++i) labels.push_back(static_cast<double>(i % classes));
  return {"matrix loop, d = 10, 3 classes", static_cast<double>(records),
          [=, x = normals(records * d), noise = grid_noise(records * d * (classes - 1)),
           sizes = std::vector<double>(records, 1e-4)] {
            loop->run({x, labels, noise, sizes, sizes}, {});
            benchmarks::keep(loop->theta().data());
          }};
}

benchmarks::Case moments_case() {
  constexpr std::size_t d = 10;
  const std::size_t triangle = descent::triangle_size(d);
  const auto moments = std::make_shared<descent::SecondMoments>(grid, &grid, d, 1, 0);
  return {"second moments, d = 10", static_cast<double>(records),
          [=, x = normals(records * d), y = normals(records), noise = grid_noise(records * triangle),
           theta = std::vector<double>(d)] {
            for (std::size_t t = 0; t < records; ++t) {
              const auto of_step = std::span(noise).subspan(t * triangle, triangle);
              moments->step(std::span(x).subspan(t * d, d), std::span(y).subspan(t, 1), theta, {}, of_step, of_step,
                            StepCount{t});
            }
            benchmarks::keep(moments->bread().data());
          }};
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<benchmarks::Case> cases;
  for (const descent::kernel::Variant& variant : descent::kernel::variants()) {
    if (!variant.available) continue;
    for (const std::size_t d : {1U, 10U, 20U, 30U, 128U}) cases.push_back(linear_case(variant, d, 1));
    cases.push_back(linear_case(variant, 10, 32));
    cases.push_back(two_stage_case(variant));
  }
  cases.push_back(matrix_case());
  cases.push_back(moments_case());
  benchmarks::Report report("private_step");
  report.add(benchmarks::measure(cases, benchmarks::asked("ROUNDS", 101)), "record");
  return report.write(argc, argv);
}
