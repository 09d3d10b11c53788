// A lane whose unit is the user, against a twin that follows the definition word by word; and how far a whole user
// moves it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "nustream/lane/lane.h"
#include "nustream/model/loss.h"
#include "nustream/users/sensitivity.h"
#include "nustream/users/table.h"
#include "property/privacy_brute_force.h"
#include "support/user_windows.h"

namespace nustream::users {
namespace {

using Kind = model::Loss::Kind;

constexpr double clip = 1.5;

/// Rows of a few users, some of them of nobody, and the limits of each user.
struct World {
  lane::Settings settings;
  noise::Grid grid{NoiseStddev{1e-4}, 1.0, ClipNorm{clip}};
  std::size_t inputs;
  std::size_t steps;
  std::vector<double> x;
  std::vector<double> y;
  std::vector<record::RowUser> users;
  std::vector<double> times;
  std::vector<std::int64_t> noise;

  [[nodiscard]] std::size_t rows() const { return y.size(); }
  [[nodiscard]] bool has_windows() const { return settings.users->windows().has_value(); }
  /// The window in which the record came, whatever step it is in.
  [[nodiscard]] std::optional<std::int64_t> window_of(std::size_t record) const {
    return has_windows() ? tests::window_of_record(times, record) : std::optional<std::int64_t>(0);
  }
  [[nodiscard]] bool is_late(std::size_t record) const {
    return has_windows() && tests::is_behind_border(times, record, settings.minibatch);
  }
  /// The iterate after each step. `batches` are committed one after the other; each entry is a number of steps.
  [[nodiscard]] std::vector<std::vector<double>> iterates(std::size_t batch, Table& table) const;
};

std::vector<std::vector<double>> World::iterates(std::size_t batch, Table& table) const {
  lane::Lane lane(settings, grid, Position{0});
  Changes in_flight(table);
  Changes open(table, in_flight);
  std::optional<WindowClock> clock;
  if (has_windows()) clock.emplace(settings.users->windows()->period);
  lane::Releases releases;
  const std::size_t m = settings.minibatch;
  std::vector<std::vector<double>> found;
  for (std::size_t t = 0; t < steps; ++t) {
    const record::RowSlice rows{inputs,
                                m,
                                x.data() + t * m * inputs,
                                y.data() + t * m,
                                nullptr,
                                users.data() + t * m,
                                nullptr,
                                times.data() + t * m};
    const noise::GridNoise of_step{StepIndex{t}, settings.dimension,
                                   std::span(noise).subspan(t * settings.dimension, settings.dimension)};
    lane.advance(rows, std::span(&of_step, 1), releases, &open, clock ? &*clock : nullptr);
    found.emplace_back(lane.theta().begin(), lane.theta().end());
    if ((t + 1) % batch != 0) continue;
    in_flight.apply(table);  // the batch before is durable now, and this one is on its way
    in_flight.take_over(open);
  }
  in_flight.apply(table);
  open.apply(table);
  return found;
}

Limits some_limits(std::mt19937_64& random) {
  const privacy::Participation participation{1 + random() % 4, 1 + random() % 3};
  const Mass mass{.25 * static_cast<double>(1 + random() % 16)};
  std::optional<Windows> windows;
  if (random() % 2 == 0) windows = tests::ten_seconds;
  const Limits limits[] = {{participation, {}, windows}, {{}, mass, windows}, {participation, mass, windows}};
  return limits[random() % 3];
}

World some_world(std::mt19937_64& random, Kind kind) {
  model::Loss loss{.kind = kind};
  loss.classes = 3;
  std::normal_distribution<double> normal;
  const std::size_t inputs = 1 + random() % 3;
  const std::size_t entries = inputs * model::predictors(loss);
  World world{.settings = {.dimension = entries,
                           .loss = loss,
                           .l2 = .01,
                           .clip = ClipNorm{clip},
                           .schedule = descent::Schedule{descent::Constant{StepSize{.3}}},
                           .projection = descent::Projection{descent::Ball{4}},
                           .averaging = {},
                           .minibatch = 1 + random() % 6,
                           .release_every = 1,
                           .start = std::vector<double>(entries, .1),
                           .users = some_limits(random)},
              .inputs = inputs,
              .steps = 3 + random() % 8,
              .x = {},
              .y = {},
              .users = {},
              .times = {},
              .noise = {}};
  const double scales[] = {1e-3, 1, 1, 20};
  for (std::size_t i = 0; i < world.steps * world.settings.minibatch; ++i) {
    const std::uint64_t user = random() % 5;
    const double scale = user == 0 ? 0 : scales[random() % 4];  // a record of nobody is a row of zeros
    for (std::size_t j = 0; j < inputs; ++j) world.x.push_back(scale * normal(random));
    world.y.push_back(user == 0 ? 0 : static_cast<double>(random() % 2));
    world.users.push_back({user * 0x9e3779b97f4a7c15, user, 0});
  }
  world.times = tests::some_times(random, world.rows());
  for (std::size_t i = 0; i < world.steps * entries; ++i) {
    world.noise.push_back(static_cast<std::int64_t>(normal(random) * 1e3));
  }
  return world;
}

/// Σ_u clip(Σ_i g_i) as the definition reads, in doubles.
std::vector<double> plain_sum(const World& world, std::size_t t, const std::vector<double>& theta,
                              std::map<std::uint64_t, Standing>& known) {
  const lane::Settings& settings = world.settings;
  std::map<std::uint64_t, std::vector<double>> sums;
  for (std::size_t i = t * settings.minibatch; i < (t + 1) * settings.minibatch; ++i) {
    const std::uint64_t user = world.users[i].low;
    if (user == 0 || world.is_late(i)) continue;
    if (!sums.contains(user) && !may_contribute(*settings.users, known[user], StepIndex{t})) continue;
    const auto x = std::span(world.x).subspan(i * world.inputs, world.inputs);
    const std::vector<double> gradient = model::gradient(settings.loss, theta, x, world.y[i]);
    auto& sum = sums[user];
    sum.resize(gradient.size());
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += gradient[j];
  }
  std::vector<double> all(settings.dimension);
  for (const auto& [user, sum] : sums) {
    double squares = 0;
    for (const double entry : sum) squares += entry * entry;
    const double length = std::min(1.0, std::sqrt(squares) / clip);
    const Charge charged = charge(*settings.users, known[user], StepIndex{t}, length);
    known[user] = charged.after;
    const double scale = squares > 0 ? charged.allowed * clip / std::sqrt(squares) : 0;
    for (std::size_t j = 0; j < sum.size(); ++j) all[j] += scale * sum[j];
  }
  return all;
}

TEST(LaneOfUsers, IsItsPlainTwinForEveryLoss) {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 400; ++trial) {
    const Kind kind = model::loss_kinds()[static_cast<std::size_t>(trial) % model::loss_kinds().size()];
    const World world = some_world(random, kind);
    Table table;
    std::map<std::uint64_t, Standing> known;
    if (random() % 3 == 0) {
      known[4] = closed({});
      table.put({{4 * 0x9e3779b97f4a7c15, 4}, 0, known[4]});
    }
    const auto found = world.iterates(1 + random() % 3, table);
    std::vector<double> theta = world.settings.start;
    const auto m = static_cast<double>(world.settings.minibatch);
    const double l2 = world.settings.l2 + model::own_regularisation(kind);
    for (std::size_t t = 0; t < world.steps; ++t) {
      if (world.has_windows() && tests::is_border(world.times, t, world.settings.minibatch)) {
        tests::begin_window(known);
      }
      const std::vector<double> sum = plain_sum(world, t, theta, known);
      for (std::size_t j = 0; j < theta.size(); ++j) {
        const double noise = static_cast<double>(world.noise[t * theta.size() + j]) * world.grid.spacing();
        theta[j] -= .3 * ((sum[j] + noise) / m + l2 * theta[j]);
      }
      world.settings.projection.apply(theta);
      for (std::size_t j = 0; j < theta.size(); ++j) ASSERT_NEAR(found[t][j], theta[j], 1e-9) << model::name(kind);
    }
    for (const std::uint64_t user : {1U, 2U, 3U, 4U}) {
      const Standing standing = table.find({user * 0x9e3779b97f4a7c15, user});
      EXPECT_EQ(standing.count, known[user].count);
      EXPECT_EQ(standing.next, known[user].next);
      EXPECT_NEAR(standing.mass, known[user].mass, 64.0);
    }
  }
}

/// For the mean at η = 1 an iterate is minus its step's noisy sum over m, whatever came before. So the difference of
/// two neighbours' iterates is that of their sums.
World mean_world(std::mt19937_64& random) {
  World world = some_world(random, Kind::mean);
  world.settings.l2 = 0;
  world.settings.schedule = descent::Schedule{descent::Constant{StepSize{1}}};
  world.settings.projection = {};
  return world;
}

// All records of one user, or those of one window where limits hold within windows, become null records at their
// places. The user's sums are longer than the clip norm, and it has many records, in one step and in many steps.
TEST(LaneOfUsers, MovesByAWholeUserAsTheSensitivitySays) {
  std::mt19937_64 random(12);
  long double closest = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const World world = mean_world(random);
    World neighbour = world;
    const auto window = world.window_of(random() % world.rows());
    for (std::size_t i = 0; i < neighbour.rows(); ++i) {
      if (neighbour.users[i].low != 1 || world.window_of(i) != window) continue;
      neighbour.users[i] = {};
      std::fill_n(neighbour.x.begin() + static_cast<std::ptrdiff_t>(i * world.inputs), world.inputs, 0.0);
    }
    Table with_user;
    Table without_user;
    const auto all = world.iterates(2, with_user);
    const auto others = neighbour.iterates(3, without_user);
    std::vector<std::vector<long double>> moved(world.steps);
    for (std::size_t t = 0; t < world.steps; ++t) {
      for (std::size_t j = 0; j < all[t].size(); ++j) {
        moved[t].push_back(static_cast<long double>(all[t][j] - others[t][j]) *
                           static_cast<long double>(world.settings.minibatch) / clip);
      }
    }
    const noise::Correlation correlation{noise::NuFtrl{Damping{.1}, StepCount{world.steps}}};
    const auto products = privacy::brute_force::encoder_products(correlation, world.steps);
    long double squared = 0;
    for (std::size_t s = 0; s < world.steps; ++s) {
      for (std::size_t t = 0; t < world.steps; ++t) {
        for (std::size_t j = 0; j < moved[s].size(); ++j) squared += moved[s][j] * moved[t][j] * products[s][t];
      }
    }
    const double claimed = sensitivity(correlation, StepCount{world.steps}, *world.settings.users).value();
    EXPECT_LE(std::sqrt(squared), claimed * (1 + 1e-9L));
    closest = std::max(closest, std::sqrt(squared) / claimed);
    for (const std::uint64_t other : {2U, 3U, 4U}) {
      const UserHash user{other * 0x9e3779b97f4a7c15, other};
      EXPECT_EQ(with_user.find(user), without_user.find(user));
    }
  }
  EXPECT_GT(closest, .99L);  // the bound is no looser than it has to be
}

}  // namespace
}  // namespace nustream::users
