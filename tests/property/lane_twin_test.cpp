// The lane against a twin that is written as the equation reads, in long double and record by record.
#include <gtest/gtest.h>

#include <cmath>

#include "support/lane_world.h"

namespace nustream::tests {
namespace {

using Kind = model::Loss::Kind;

long double slope_of(const model::Loss& loss, long double p, long double y) {
  switch (loss.kind) {
    case Kind::mean:
      return -1;
    case Kind::linear:
      return p - y;
    case Kind::huber:
      return std::fmin(std::fmax(p - y, static_cast<long double>(-loss.threshold)), loss.threshold);
    case Kind::logistic:
      return 1 / (1 + expl(-p)) - y;
    case Kind::poisson:
      return expl(p) - y;
    case Kind::quantile: {
      const long double share = 0.5L * ((p - y) / loss.bandwidth + 1);
      return std::fmin(std::fmax(share, 0.0L), 1.0L) - loss.level;
    }
    case Kind::multinomial:
      break;  // property/lane_stages_twin_test.cpp has the losses of several predictors
  }
  return 0;
}

struct Twin {
  lane::Settings settings;
  long double spacing;
  std::vector<long double> theta;
  std::vector<std::vector<long double>> iterates;  // the iterate after each step
  std::vector<long double> velocity = std::vector<long double>(theta.size());

  void project() {
    long double squares = 0;
    for (const long double entry : theta) squares += entry * entry;
    if (const auto* const ball = std::get_if<descent::Ball>(&settings.projection.family())) {
      const long double factor = std::fmin(1.0L, ball->radius / sqrtl(squares));
      for (long double& entry : theta) entry *= factor;
    }
    if (const auto* const box = std::get_if<descent::Box>(&settings.projection.family())) {
      for (long double& entry : theta) entry = std::fmin(std::fmax(entry, box->lower[0]), box->upper[0]);
    }
  }

  void step(const World& world, std::size_t t) {
    const std::size_t d = settings.dimension;
    std::vector<long double> sum(d);
    for (std::size_t i = t * settings.minibatch; i < (t + 1) * settings.minibatch; ++i) {
      const double* const x = world.rows.x.data() + i * d;
      long double prediction = 0;
      long double squares = 0;
      for (std::size_t j = 0; j < d; ++j) {
        prediction += x[j] * theta[j];
        squares += static_cast<long double>(x[j]) * x[j];
      }
      const long double slope = slope_of(settings.loss, prediction, world.rows.y[i]);
      const long double norm = std::fabs(slope) * sqrtl(squares);
      const long double factor = norm > 0 ? slope * std::fmin(1.0L, settings.clip.value() / norm) : 0;
      for (std::size_t j = 0; j < d; ++j) sum[j] += truncl(factor * x[j] / spacing);
    }
    const double eta = settings.schedule.at(StepIndex{t});
    const double lambda = settings.l2 + (settings.loss.kind == Kind::mean ? 1 : 0);
    for (std::size_t j = 0; j < d; ++j) {
      const long double noisy = sum[j] + static_cast<long double>(world.noise[t * d + j]);
      const long double gradient = noisy * spacing / static_cast<long double>(settings.minibatch) + lambda * theta[j];
      velocity[j] = settings.momentum * velocity[j] + gradient;
      theta[j] -= eta * velocity[j];
    }
    project();
    iterates.push_back(theta);
  }

  // The average of the iterates with step counts from + 1, from + 2, …, each weighted by decay^age.
  [[nodiscard]] std::vector<long double> average() const {
    const bool exponential = settings.averaging.kind == descent::Averaging::Kind::exponential;
    const long double decay = exponential ? settings.averaging.decay : 1.0;
    std::vector<long double> total(theta.size());
    long double weights = 0;
    for (std::size_t n = settings.averaging.from; n < iterates.size(); ++n) {
      const long double weight = powl(decay, static_cast<long double>(iterates.size() - 1 - n));
      weights += weight;
      for (std::size_t j = 0; j < total.size(); ++j) total[j] += weight * iterates[n][j];
    }
    for (long double& entry : total) entry /= weights;
    return total;
  }
};

TEST(Lane, AgreesWithATwinThatReadsAsTheEquation) {
  constexpr std::size_t steps = 60;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const lane::Settings settings = random_settings(seed);
    const noise::Grid grid = grid_for(settings);
    const World world = random_world(settings, steps, seed, 0x1p30);
    lane::Lane lane(settings, grid, Position{1000});
    Twin twin{settings, grid.spacing(), {settings.start.begin(), settings.start.end()}, {}};
    for (std::size_t t = 0; t < steps; ++t) {
      lane::Releases releases;
      advance(lane, settings, world, 1, releases);
      twin.step(world, t);
      // The exponential of some losses makes rounding differences grow with the iterate; the others stay near 2^-32
      // per unit.
      for (std::size_t j = 0; j < settings.dimension; ++j) {
        ASSERT_NEAR(lane.theta()[j], static_cast<double>(twin.theta[j]), 1e-9) << seed << ' ' << t << ' ' << j;
      }
      ASSERT_EQ(releases.size(), (t + 1) % settings.release_every == 0 ? 1U : 0U);
      if (releases.size() == 0) continue;
      const lane::Release release = releases[0];
      EXPECT_EQ(release.steps.value(), t + 1);
      EXPECT_EQ(release.position.value(), 1000 + (t + 1) * settings.minibatch);
      const bool begun = settings.averaging.kind != descent::Averaging::Kind::last && t >= settings.averaging.from;
      ASSERT_EQ(release.average.size(), begun ? settings.dimension : 0U);
      for (std::size_t j = 0; begun && j < settings.dimension; ++j) {
        ASSERT_NEAR(release.average[j], static_cast<double>(twin.average()[j]), 1e-9) << seed << ' ' << t;
      }
    }
  }
}

}  // namespace
}  // namespace nustream::tests
