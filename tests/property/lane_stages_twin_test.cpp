// Loops with several predictors and with two stages against twins that are written as the equations read, in long
// double and step by step. Their projections are compared too, and their averages, which are of the iterates that
// have their step's noise. (property/lane_twin_test.cpp has the loops of one predictor.)
#include <gtest/gtest.h>

#include <cmath>

#include "support/lane_stages.h"

namespace nustream::tests {
namespace {

using Kind = descent::Averaging::Kind;
using Reals = std::vector<long double>;

constexpr std::size_t steps = 60;
constexpr double tolerance = 1e-7;  // the grid's spacing is about 2^-32, and tens of records are truncated
/// Noise of a tenth of the clip norm: an iterate without its step's noise is far outside of the tolerance.
constexpr double noise_units = 0x1p28;

/// clip(gradient, G).
Reals clipped(Reals gradient, long double norm_max) {
  long double squares = 0;
  for (const long double entry : gradient) squares += entry * entry;
  const long double factor = squares > 0 ? std::fmin(1.0L, norm_max / sqrtl(squares)) : 0;
  for (long double& entry : gradient) entry *= factor;
  return gradient;
}

void add(const Reals& part, Reals& sum) {
  for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += part[j];
}

/// Moves θ to the nearest point of the projection's set.
void project(const descent::Projection& projection, std::span<long double> theta) {
  if (const auto* const ball = std::get_if<descent::Ball>(&projection.family())) {
    long double squares = 0;
    for (const long double entry : theta) squares += entry * entry;
    const long double factor = squares > 0 ? std::fmin(1.0L, ball->radius / sqrtl(squares)) : 1;
    for (long double& entry : theta) entry *= factor;
  }
  if (const auto* const box = std::get_if<descent::Box>(&projection.family())) {
    for (long double& entry : theta) entry = std::fmin(std::fmax(entry, box->lower[0]), box->upper[0]);
  }
}

/// The average of the iterates with step counts from + 1, from + 2, …, each weighted by decay^age.
Reals average_of(const std::vector<Reals>& iterates, const descent::Averaging& averaging) {
  const long double decay = averaging.kind == Kind::exponential ? averaging.decay : 1.0;
  Reals total(iterates.front().size());
  long double weights = 0;
  for (std::size_t n = averaging.from; n < iterates.size(); ++n) {
    const long double weight = powl(decay, static_cast<long double>(iterates.size() - 1 - n));
    weights += weight;
    for (std::size_t j = 0; j < total.size(); ++j) total[j] += weight * iterates[n][j];
  }
  for (long double& entry : total) entry /= weights;
  return total;
}

/// The settings with the projection, average and minibatch size that the number `which` selects.
lane::Settings varied(lane::Settings settings, std::size_t which) {
  const descent::Projection::Family projections[] = {descent::Unbounded{}, descent::Ball{0.05},
                                                     descent::Box{{-0.01}, {0.02}}};
  const descent::Averaging averages[] = {
      {Kind::tail, 0, 0.5}, {Kind::tail, 17, 0.5}, {Kind::exponential, 5, 0.9}, {}};
  settings.projection = descent::Projection{projections[which % 3]};
  settings.averaging = averages[which / 3 % 4];
  settings.minibatch = 1 + which / 12 % 2 * 2;
  settings.release_every = 7;
  settings.l2 = 0.05;
  return settings;
}
constexpr std::size_t variations = 24;

/// Computes the sums of clipped gradients of one step at the iterate θ, one vector for each stage.
using Sums = std::function<std::vector<Reals>(const StagedWorld& world, std::size_t step, const Reals& theta)>;

void expect_near(std::span<const double> found, const Reals& expected, const char* what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t j = 0; j < found.size(); ++j) {
    EXPECT_NEAR(found[j], static_cast<double>(expected[j]), tolerance) << what << ", entry " << j;
  }
}

/// Returns how many steps were projected. A test has to ask for some: without any, a projection that does nothing
/// would agree as well.
std::size_t compare(const lane::Settings& settings, const Sums& sums) {
  const auto grids = grids_for(settings);
  const StagedWorld world = staged_world(settings, steps, 5, noise_units);
  lane::Lane lane(settings, grids, Position{0});
  lane::Releases releases;
  lane.advance(slice(world.rows, 0, world.rows.count()), world.noise_from(0), releases);

  const std::size_t second = world.dimensions[0];
  std::size_t projected = 0;
  Reals theta(settings.start.begin(), settings.start.end());
  std::vector<Reals> iterates;
  std::size_t shown = 0;
  for (std::size_t t = 0; t < steps; ++t) {
    const std::vector<Reals> sum = sums(world, t, theta);
    for (std::size_t stage = 0, at = 0; stage < sum.size(); ++stage) {
      const long double step_size = stage == 0 ? 0.05L : 0.03L;
      const long double l2 = stage == 0 ? 0.05L : 0.01L;
      for (std::size_t j = 0; j < sum[stage].size(); ++j, ++at) {
        const long double z = world.units[stage][t * sum[stage].size() + j];
        const long double noisy = sum[stage][j] + z * static_cast<long double>(grids[stage].spacing());
        theta[at] -= step_size * (noisy / static_cast<long double>(settings.minibatch) + l2 * theta[at]);
      }
    }
    const Reals before = theta;
    project(settings.projection, std::span(theta).first(second));
    if (theta != before) ++projected;
    iterates.push_back(theta);
    if ((t + 1) % settings.release_every != 0) continue;
    SCOPED_TRACE("step " + std::to_string(t + 1));
    const lane::Release release = releases[shown++];
    expect_near(release.theta, theta, "iterate");
    const bool begun = settings.averaging.kind != Kind::last && t >= settings.averaging.from;
    EXPECT_EQ(release.average.empty(), !begun);
    if (begun) expect_near(release.average, average_of(iterates, settings.averaging), "average");
  }
  return projected;
}

TEST(MatrixLoop, ProjectsAndAveragesAsTheEquation) {
  for (std::size_t which = 0; which < variations; ++which) {
    SCOPED_TRACE(which);
    const lane::Settings settings = varied(multinomial_settings(4, 0.8), which);
    const Sums sums = [&](const StagedWorld& world, std::size_t t, const Reals& theta) {
      Reals sum(8);
      for (std::size_t i = t * settings.minibatch; i < (t + 1) * settings.minibatch; ++i) {
        const std::vector<double> at(theta.begin(), theta.end());
        const auto g = model::gradient(settings.loss, at, std::span(world.rows.x).subspan(i * 4, 4), world.rows.y[i]);
        add(clipped({g.begin(), g.end()}, 0.8L), sum);
      }
      return std::vector<Reals>{sum};
    };
    EXPECT_EQ(compare(settings, sums) > 10, which % 3 != 0) << "a projection with nothing to do";
  }
}

TEST(TwoStageLoop, ProjectsAndAveragesAsTheEquation) {
  for (std::size_t which = 0; which < variations; ++which) {
    SCOPED_TRACE(which);
    const lane::Settings settings = varied(two_stage_settings(2, 2), which);
    const std::size_t q = settings.first_stage->shape.instruments;
    const Sums sums = [&](const StagedWorld& world, std::size_t t, const Reals& theta) {
      Reals second(4);
      Reals first(2 * q);
      for (std::size_t i = t * settings.minibatch; i < (t + 1) * settings.minibatch; ++i) {
        const double* const z = world.rows.x.data() + i * world.rows.dimension;
        Reals fitted{z[0], z[1]};  // the controls
        Reals first_gradient;
        for (std::size_t e = 0; e < 2; ++e) {
          long double prediction = 0;
          for (std::size_t j = 0; j < q; ++j) prediction += theta[4 + e * q + j] * z[j];
          fitted.push_back(prediction);
          for (std::size_t j = 0; j < q; ++j) first_gradient.push_back((prediction - z[q + e]) * z[j]);
        }
        long double residual = -world.rows.y[i];
        for (std::size_t j = 0; j < 4; ++j) residual += theta[j] * fitted[j];
        Reals second_gradient;
        for (std::size_t j = 0; j < 4; ++j) second_gradient.push_back(residual * fitted[j]);
        add(clipped(second_gradient, 1.0L), second);
        add(clipped(first_gradient, 0.7L), first);
      }
      return std::vector<Reals>{second, first};
    };
    EXPECT_EQ(compare(settings, sums) > 10, which % 3 != 0) << "a projection with nothing to do";
  }
}

}  // namespace
}  // namespace nustream::tests
