// Running sums by user: against a twin that follows the definition word by word, how far a whole user moves them, and
// what that costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <vector>

#include "nustream/moments/lane.h"
#include "nustream/users/sensitivity.h"
#include "nustream/users/table.h"
#include "property/privacy_brute_force.h"
#include "support/moments_world.h"
#include "support/user_windows.h"

namespace nustream::users {
namespace {

constexpr std::size_t inputs = 2;
constexpr std::size_t triangle = 3;
constexpr std::size_t steps = 7;
/// The sums of one step: second moments as an isometric triangle over R_x², then target moments over R_x R_r.
using Step = std::array<double, triangle + inputs>;

struct World {
  moments::Settings settings;
  tests::SumsWorld sums;
};

UserHash hash_of(std::uint64_t user) {
  return {user * 0x9e3779b97f4a7c15, user};
}

Limits some_limits(std::mt19937_64& random) {
  const privacy::Participation participation{1 + random() % 4, 1 + random() % 3};
  const Mass mass{.25 * static_cast<double>(1 + random() % 16)};
  std::optional<Windows> windows;
  if (random() % 2 == 0) windows = tests::ten_seconds;
  const Limits limits[] = {{participation, {}, windows}, {{}, mass, windows}, {participation, mass, windows}};
  return limits[random() % 3];
}

/// Rows of four users and of nobody; some users have rows in many steps, some in one.
World some_world(std::mt19937_64& random, privacy::Adjacency adjacency) {
  World world{tests::linear_settings(inputs, 3 + random() % 10), {}};
  world.settings.stages.resize(1);
  world.settings.mechanism.design.neighbours = {adjacency, false, true};
  world.settings.mechanism.users = some_limits(random);
  world.sums = tests::sums_world(world.settings, steps, random());
  const std::uint64_t most = 2 + random() % 4;
  for (std::size_t i = 0; i < world.sums.rows.count(); ++i) {
    const std::uint64_t user = random() % most;
    world.sums.rows.users.push_back(user == 0 ? record::RowUser{}
                                              : record::RowUser{hash_of(user).high, hash_of(user).low, 0});
  }
  world.sums.rows.times = tests::some_times(random, world.sums.rows.count());
  return world;
}

bool has_windows(const World& world) {
  return world.settings.mechanism.users->windows().has_value();
}

/// What each step added, noise included, where `batch` steps are committed together.
std::vector<Step> found_in(const World& world, Table& table, std::size_t batch) {
  moments::Lane lane(world.settings, Position{0});
  Changes in_flight(table);
  Changes open(table, in_flight);
  const moments::Radii& radii = world.settings.stages.front().radii;
  const std::size_t m = world.settings.mechanism.participation.batch;
  std::vector<Step> found;
  std::optional<WindowClock> clock;
  if (has_windows(world)) clock.emplace(world.settings.mechanism.users->windows()->period);
  Step before{};
  for (std::size_t t = 0; t < steps; ++t) {
    moments::Releases releases;
    std::vector<noise::GridNoise> noise;
    for (std::size_t b = 0; b < 2; ++b) {
      const std::size_t size = b == 0 ? triangle : inputs;
      noise.push_back({StepIndex{t}, size, std::span(world.sums.noise[b]).subspan(t * size)});
    }
    const std::size_t cut = t * m + m / 2;  // the rows of a step may come in parts
    for (const auto& [begin, end] : {std::pair(t * m, cut), std::pair(cut, (t + 1) * m)}) {
      lane.advance(slice(world.sums.rows, begin, end), noise, releases, &open, clock ? &*clock : nullptr);
    }
    Step now{};
    const moments::StageSums& sums = lane.sums().stages().back();
    for (std::size_t j = 0; j < triangle; ++j) now[j] = sums.second[j] / (radii.inputs * radii.inputs);
    for (std::size_t j = 0; j < inputs; ++j) now[triangle + j] = sums.cross[j] / (radii.inputs * radii.target);
    Step added{};
    for (std::size_t j = 0; j < now.size(); ++j) added[j] = now[j] - before[j];
    before = now;
    found.push_back(added);
    if ((t + 1) % batch != 0) continue;
    in_flight.apply(table);
    in_flight.take_over(open);
  }
  in_flight.apply(table);
  open.apply(table);
  return found;
}

double length(std::span<const double> v) {
  double squares = 0;
  for (const double entry : v) squares += entry * entry;
  return std::sqrt(squares);
}

/// As the definition reads, in doubles: the moments of a row; their sum over a user is shortened by one factor
/// afterwards.
Step of_row(const World& world, std::size_t i) {
  const moments::Radii& radii = world.settings.stages.front().radii;
  const double x[inputs] = {world.sums.rows.x[inputs * i], world.sums.rows.x[inputs * i + 1]};
  const double norm = length(x);
  const double scale = norm > radii.inputs ? radii.inputs / norm : 1;
  const double residual = std::clamp(scale * world.sums.rows.y[i], -radii.target, radii.target) / radii.target;
  const double u[inputs] = {x[0] * scale / radii.inputs, x[1] * scale / radii.inputs};
  return {u[0] * u[0], std::numbers::sqrt2 * u[0] * u[1], u[1] * u[1], residual * u[0], residual * u[1]};
}

Step plain_step(const World& world, std::size_t t, std::map<std::uint64_t, Standing>& known) {
  const Limits& limits = *world.settings.mechanism.users;
  const std::size_t m = world.settings.mechanism.participation.batch;
  std::map<std::uint64_t, Step> sums;
  if (has_windows(world) && tests::is_border(world.sums.rows.times, t, m)) tests::begin_window(known);
  for (std::size_t i = t * m; i < (t + 1) * m; ++i) {
    const std::uint64_t user = world.sums.rows.users[i].low;
    if (user == 0 || (has_windows(world) && tests::is_behind_border(world.sums.rows.times, i, m))) continue;
    if (!sums.contains(user) && !may_contribute(limits, known[user], StepIndex{t})) continue;
    const Step row = of_row(world, i);
    for (std::size_t j = 0; j < row.size(); ++j) sums[user][j] += row[j];
  }
  Step all{};
  for (const auto& [user, sum] : sums) {
    const std::span<const double> both = sum;
    const double longest = std::max(length(both.first(triangle)), length(both.subspan(triangle)));
    const Charge charged = charge(limits, known[user], StepIndex{t}, std::min(1.0, longest));
    known[user] = charged.after;
    const double factor = longest > 0 ? charged.allowed / longest : 0;
    for (std::size_t j = 0; j < sum.size(); ++j) all[j] += factor * sum[j];
  }
  const std::vector<noise::Grid> grids = moments::grids(world.settings);
  for (std::size_t j = 0; j < all.size(); ++j) {
    const std::size_t b = j < triangle ? 0 : 1;
    const std::size_t at = b == 0 ? t * triangle + j : t * inputs + j - triangle;
    all[j] += static_cast<double>(world.sums.noise[b][at]) * grids[b].spacing();
  }
  return all;
}

TEST(SumsOfUsers, AreThoseOfTheirPlainTwin) {
  std::mt19937_64 random(21);
  for (int trial = 0; trial < 500; ++trial) {
    const World world = some_world(random, privacy::Adjacency::zero_out);
    Table table;
    const std::vector<Step> found = found_in(world, table, 1 + random() % 3);
    std::map<std::uint64_t, Standing> known;
    for (std::size_t t = 0; t < steps; ++t) {
      const Step expected = plain_step(world, t, known);
      for (std::size_t j = 0; j < expected.size(); ++j) ASSERT_NEAR(found[t][j], expected[j], 1e-7) << t << " " << j;
    }
    for (std::uint64_t user = 1; user < 5; ++user) {
      EXPECT_EQ(table.find(hash_of(user)).count, known[user].count);
      EXPECT_NEAR(table.find(hash_of(user)).mass, known[user].mass, 64.0);
    }
  }
}

/// ‖C·moves‖ of one block, in units of its Δ under zero-out.
double moved(const std::vector<Step>& a, const std::vector<Step>& b, const noise::Correlation& correlation,
             std::size_t from, std::size_t count) {
  const auto products = privacy::brute_force::encoder_products(correlation, steps);
  long double squared = 0;
  for (std::size_t s = 0; s < steps; ++s) {
    for (std::size_t t = 0; t < steps; ++t) {
      for (std::size_t j = from; j < from + count; ++j) {
        squared += static_cast<long double>(a[s][j] - b[s][j]) * (a[t][j] - b[t][j]) * products[s][t];
      }
    }
  }
  return static_cast<double>(std::sqrt(std::max(squared, 0.0L)));
}

// All records of a user, or those of one window where limits hold within windows, are replaced by null records or by
// records of somebody else. Both blocks move, and the counts of no other user do.
TEST(SumsOfUsers, MoveByAWholeUserAsTheSensitivitySays) {
  std::mt19937_64 random(22);
  double closest = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const bool replaced = trial % 2 == 1;
    const World world = some_world(random, replaced ? privacy::Adjacency::replace_one : privacy::Adjacency::zero_out);
    World neighbour = world;
    const tests::SumsWorld others = tests::sums_world(world.settings, steps, random());
    const std::size_t m = world.settings.mechanism.participation.batch;
    const auto window_of = [&](std::size_t record) {
      return has_windows(world) ? tests::window_of_record(world.sums.rows.times, record) : std::optional(INT64_C(0));
    };
    const auto window = window_of(random() % (steps * m));
    for (std::size_t i = 0; i < neighbour.sums.rows.count(); ++i) {
      if (neighbour.sums.rows.users[i].low != 1 || window_of(i) != window) continue;
      const bool null = !replaced || random() % 3 == 0;
      neighbour.sums.rows.users[i] = null ? record::RowUser{} : record::RowUser{hash_of(9).high, 9, 0};
      for (std::size_t j = 0; j < inputs; ++j) {
        neighbour.sums.rows.x[inputs * i + j] = null ? 0 : others.rows.x[inputs * i + j];
      }
      neighbour.sums.rows.y[i] = null ? 0 : -others.rows.y[i];
    }
    Table with_user;
    Table without_user;
    const std::vector<Step> all = found_in(world, with_user, 2);
    const std::vector<Step> rest = found_in(neighbour, without_user, 3);
    const noise::Correlation correlation{noise::NuFtrl{Damping{.1}, StepCount{steps}}};
    const double once = sensitivity(correlation, StepCount{steps}, *world.settings.mechanism.users).value();
    const double claimed =
        once * moments::displacement(world.settings.mechanism.design, moments::Block::second).value();
    for (const double move :
         {moved(all, rest, correlation, 0, triangle), moved(all, rest, correlation, triangle, inputs)}) {
      ASSERT_LE(move, claimed * (1 + 1e-9));
      if (!replaced) closest = std::max(closest, move / claimed);
    }
    for (const std::uint64_t other : {2U, 3U, 4U}) {
      EXPECT_EQ(with_user.find(hash_of(other)), without_user.find(hash_of(other)));
    }
  }
  EXPECT_GT(closest, .99);  // the bound is no looser than it has to be
}

// The noise of all blocks together costs a user the ρ that was asked for, under either kind of neighbours.
TEST(SumsOfUsers, CostWhatTheyAreCalibratedFor) {
  std::mt19937_64 random(23);
  for (int trial = 0; trial < 100; ++trial) {
    const auto adjacency = trial % 2 == 0 ? privacy::Adjacency::zero_out : privacy::Adjacency::replace_one;
    const moments::Mechanism mechanism = some_world(random, adjacency).settings.mechanism;
    const Rho budget{.01 + static_cast<double>(random() % 100)};
    const std::vector<NoiseMultiplier> sigmas = moments::calibrate(mechanism, {.3, .7}, budget);
    const privacy::Spend all =
        spend(mechanism.correlation, *mechanism.users, moments::joint_multiplier(mechanism.design, sigmas));
    EXPECT_LE(all.limit(), budget);
    EXPECT_GT(all.limit().value(), budget.value() * (1 - 1e-9));
    const double moved = sensitivity_limit(mechanism.correlation, *mechanism.users).value();
    double sum = 0;
    for (const NoiseMultiplier sigma : sigmas) sum += moved * moved / (2 * sigma.value() * sigma.value());
    EXPECT_NEAR(sum / budget.value(), 1, 1e-9);
  }
}

}  // namespace
}  // namespace nustream::users
