#include "coupled_users.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "config/moments.h"
#include "journal/release_chain.h"
#include "life_of_users.h"
#include "nustream/moments/lane.h"
#include "nustream/users/gate.h"
#include "random_stream.h"
#include "user_records.h"
#include "user_windows.h"

namespace nustream::tests {
namespace {

std::string limits_of(std::mt19937_64& random) {
  const std::string participation =
      fmt::format("participations = {}\nseparation = {}\n", 1 + random() % 4, 1 + random() % 3);
  const std::string mass = fmt::format("mass = {}\n", .25 * static_cast<double>(1 + random() % 12));
  const std::string limits[] = {participation, mass, participation + mass};
  return limits[random() % 3] + (random() % 3 == 0 ? "period = \"PT10S\"\ntimes = \"trusted\"\n" : "");
}

double some(std::mt19937_64& random, std::uint64_t values) {
  return static_cast<double>(1 + random() % values);
}

std::string model_of(std::mt19937_64& random, std::uint64_t minibatch, bool& is_label) {
  if (random() % 3 == 0) {
    return fmt::format(
        "[model]\nestimator = \"moments\"\nintercept = {}\n[release]\nevery = {}\n[moments]\nrow_norm = {}\n"
        "residual_bound = {}\nsecond_moment_share = {}\n",
        random() % 2 == 0, minibatch, some(random, 4), some(random, 3), .1 + .1 * some(random, 6));
  }
  const std::string losses[] = {"\"linear\"", "\"huber\"\nthreshold = 1.5", "\"logistic\""};
  const std::size_t loss = random() % 3;
  is_label = loss == 2;
  return fmt::format(
      "[model]\nloss = {}\n[descent]\nstep_size = {}\nclip_norm = {}\nminibatch = {}\n{}[release]\nevery = {}\n",
      losses[loss], random() % 2 == 0 ? .3 : .05, .5 * some(random, 3), minibatch,
      random() % 2 == 0 ? "" : "projection = \"ball\"\nradius = 3.0\n", 1 + random() % 3);
}

using Standings = std::map<std::uint64_t, users::Standing>;

/// Limits that hold for ever, for the probe of a single step.
users::Limits within_a_step(const WorldOfUsers& world) {
  return {world.limits().participation(), world.limits().mass()};
}

/// A table that says what each user in the rows [begin, end) may still do in the step, as if the step were a lane's
/// first.
users::Table as_of_a_first_step(const WorldOfUsers& world, const record::RowBatch& rows, std::size_t begin,
                                std::size_t end, std::uint64_t step, const Standings& known) {
  users::Table table;
  for (std::size_t i = begin; i < end; ++i) {
    if (rows.users[i].is_nobody()) continue;
    const auto found = known.find(rows.users[i].low);
    if (found == known.end()) continue;
    users::Standing standing = found->second;
    standing.next = 0;
    if (!may_contribute(world.limits(), found->second, StepIndex{step})) standing = users::closed(standing);
    table.put({hash_of(rows.users[i]), 0, standing});
  }
  return table;
}

/// The negative of a step's sums, without what does not depend on the rows, in units of each stage's grid. `known`
/// then holds what the users have used up after the step.
std::vector<std::vector<double>> sums_of_step(const WorldOfUsers& world, std::span<const double> theta,
                                              const record::RowBatch& rows, std::uint64_t step, Standings& known) {
  const config::Config& config = world.settings->config;
  const config::Mechanism& mechanism = world.settings->mechanism;
  const auto begin = static_cast<std::size_t>(step * world.minibatch());
  const std::size_t end = begin + static_cast<std::size_t>(world.minibatch());
  const users::Table table = as_of_a_first_step(world, rows, begin, end, step, known);
  users::Changes used(table);
  std::vector<std::vector<double>> sums;
  if (config.moments) {
    moments::Settings settings = config::moments_settings(config, mechanism);
    settings.mechanism.users = within_a_step(world);
    std::vector<std::size_t> entries;
    for (const config::CalibratedStage& stage : mechanism.stages) entries.push_back(stage.dimension);
    std::vector<std::vector<std::int64_t>> units;
    const std::vector<noise::GridNoise> noise = silence(entries, units);
    const moments::Radii radii = settings.stages.front().radii;
    moments::Lane lane(std::move(settings), Position{0});
    moments::Releases releases;
    lane.advance(record::slice(rows, begin, end), noise, releases, &used);
    const moments::StageSums& found = lane.sums().stages().back();
    sums.emplace_back();
    for (const double entry : found.second) sums.back().push_back(-entry / (radii.inputs * radii.inputs));
    sums.emplace_back();
    for (const double entry : found.cross) sums.back().push_back(-entry / (radii.inputs * radii.target));
  } else {
    lane::Settings settings = config.descent;
    settings.users = within_a_step(world);
    sums.push_back(less_its_sum(settings, mechanism.grids, theta, rows, begin, end, &used));
    if (settings.counts_clipped) {
      const double count = sums.front().back();
      sums.front().pop_back();
      sums.push_back({count});
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    for (double& entry : sums[i]) entry /= mechanism.grids[i].spacing();
  }
  for (const users::Change& change : used.all()) {
    users::Standing after = change.entry.standing;
    after.next = step + 1;
    known[change.entry.user.low] = after;
  }
  return sums;
}

/// The rows, in which those lose their user that came behind the border of their step's window and therefore take no
/// part.
record::RowBatch that_take_part(const WorldOfUsers& world, record::RowBatch rows) {
  if (!world.limits().windows()) return rows;
  for (std::size_t i = 0; i < rows.users.size(); ++i) {
    if (is_behind_border(rows.times, i, static_cast<std::size_t>(world.minibatch()))) rows.users[i] = {};
  }
  return rows;
}

/// Finds the shifts of all steps in which either stream has records that the other one lacks.
void find_shifts(const WorldOfUsers& world, std::uint64_t seed, PairOfUsers& pair) {
  const secrets::Keyring keys = secrets::Keyring::insecure(seed);
  const Shifts none;
  LifeOfUsers life(world, keys, none, pair.rows, std::nullopt, beginning(world, keys));
  Standings here;
  Standings there;
  const record::RowBatch rows = that_take_part(world, pair.rows);
  const record::RowBatch other = that_take_part(world, pair.other);
  const auto m = static_cast<std::size_t>(world.minibatch());
  for (std::uint64_t step = 0; step < pair.steps; ++step) {
    if (world.limits().windows() && is_border(pair.rows.times, static_cast<std::size_t>(step), m)) {
      begin_window(here);
      begin_window(there);
    }
    life.go_to(step);
    const std::vector<double> theta(life.lane().theta().begin(), life.lane().theta().end());
    const auto one = sums_of_step(world, theta, rows, step, here);
    const auto two = sums_of_step(world, theta, other, step, there);
    std::vector<std::vector<std::int64_t>> shift;
    bool moved = false;
    for (std::size_t i = 0; i < one.size(); ++i) {
      shift.emplace_back();
      for (std::size_t j = 0; j < one[i].size(); ++j) shift[i].push_back(whole_units(two[i][j] - one[i][j]));
      moved = moved || std::ranges::any_of(shift[i], [](std::int64_t units) { return units != 0; });
    }
    if (!moved) continue;
    ++pair.contributions;
    pair.shifts.emplace(step, std::move(shift));
  }
}

}  // namespace

WorldOfUsers::WorldOfUsers(std::uint64_t seed) {
  std::mt19937_64 random(seed * 0x9fb21c651e98df25U + 1);
  // Of its own numbers, so that what was drawn before is drawn again.
  std::mt19937_64 apart(seed * 0xbf58476d1ce4e5b9U + 3);
  do {
    is_label = false;
    features = 1 + random() % 2;
    steps = 4 + random() % 8;
    const std::uint64_t minibatch = 1 + random() % 4;
    std::string columns;
    toml = "[stream]\nname = \"pair\"\nformat = \"csv\"\nheader = false\n";
    const std::string limits = limits_of(random);
    for (std::size_t j = 0; j < features; ++j) columns += fmt::format("\"x{}\",", j);
    if (limits.find("period") != std::string::npos) toml += "time = \"@timestamp\"\n";
    toml += "columns = [" + columns + "\"who\",\"y\"]\n[target]\ncolumn = \"y\"\n";
    for (std::size_t j = 0; j < features; ++j) toml += fmt::format("[[features]]\ncolumn = \"x{}\"\n", j);
    toml += model_of(random, minibatch, is_label);
    toml += fmt::format(
        "[privacy]\nunit = \"user\"\nuser = \"who\"\nuser_null = [\"0\"]\nrho = {}\ndelta = 1e-6\n"
        "adjacency = \"{}\"\n[users]\n{}[noise]\n{}",
        std::pow(10.0, static_cast<double>(random() % 3) - 1), random() % 2 == 0 ? "zero-out" : "replace-one", limits,
        random_correlation(random(), {.steps = steps}));
    if (apart() % 3 == 0 && toml.find("moments") == std::string::npos) {
      toml.insert(toml.find("[users]"), "clipped_share = 0.05\n");
    }
    RandomStream stream;
    stream.toml = toml;
    settings = settings_of(stream, "", privacy::Participation::once());
  } while (!settings);
  identifiers = std::make_unique<users::Identifiers>(users::Partitioner::user_hash);
  identifiers->use(users::UserKey(noise::KeyBytes{7}));
  settings->config.schema.user->reader = identifiers.get();
  if (const auto horizon = settings->mechanism.horizon()) steps = std::min(steps, horizon->value());
  claims = Claims(settings->mechanism, steps);
}

PairOfUsers draw_pair(const WorldOfUsers& world, std::uint64_t seed) {
  std::mt19937_64 random(seed * 0x2545f4914f6cdd1dU + 9);
  const bool hostile = random() % 2 == 0;
  const std::vector<Fields> here = draw_records(world, random, hostile);
  std::vector<Fields> there = here;
  PairOfUsers pair;
  pair.rows = rows_of(world, here);
  pair.steps = world.steps;
  pair.user = world.identifiers ? users::UserKey(noise::KeyBytes{7}).hash(the_user) : users::UserHash{};
  const auto window_of = [&](std::size_t record) {
    return world.limits().windows() ? window_of_record(pair.rows.times, record) : std::optional<std::int64_t>(0);
  };
  const auto window = window_of(random() % there.size());
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (there[i].who != the_user || window_of(i) != window) continue;
    there[i] = in_its_place(world, there[i], random, hostile);
  }
  pair.other = rows_of(world, there);
  find_shifts(world, seed, pair);
  std::vector<std::uint64_t> commits{pair.steps};
  for (std::uint64_t more = random() % 5; more > 0; --more) commits.push_back(random() % (pair.steps + 1));
  std::ranges::sort(commits);
  commits.erase(std::unique(commits.begin(), commits.end()), commits.end());
  pair.fate = draw_fate(random, std::move(commits));
  pair.here = run(world, seed, pair.rows, {}, pair.fate);
  return pair;
}

ShownOfUsers run(const WorldOfUsers& world, std::uint64_t seed, const record::RowBatch& rows, const Shifts& shifts,
                 Fate& fate) {
  const config::Config& config = world.settings->config;
  const secrets::Keyring keys = secrets::Keyring::insecure(seed);
  engine::EpochLedger ledger(
      {config.stream, LaneId{0}, EpochId{0}, Position{0}, journal::Overlap::disjoint, world.settings->digest,
       config.privacy.neighbours(), keys.is_private(), "", world.limits(), false},
      world.settings->mechanism, {});
  const std::optional<StepCount> limit = ledger.limit(config.privacy.budget, Position{0});
  CommittedUsers committed = beginning(world, keys);
  auto life = std::make_unique<LifeOfUsers>(world, keys, shifts, rows, limit, committed);
  ShownOfUsers all;
  journal::ReleaseChain releases{config.descent.release_every};
  StepCount sealed{0};
  for (const std::uint64_t commit : fate.commits) {
    if (const auto death = fate.deaths.find(commit); death != fate.deaths.end()) {
      life->go_to(death->second);
      if (life->lane().steps().value() > committed.steps) ++fate.lost;
      life = std::make_unique<LifeOfUsers>(world, keys, shifts, rows, limit, committed);
    }
    life->go_to(commit);
    if (commit == world.steps) life->release_the_end();
    committed = life->commit();
    all.shown.lanes[commit] = committed.lane;
    const journal::Hash durable = releases.head;
    all.shown.releases += journal::chained(life->released(), releases, keys);
    const std::optional<StepCount> before = commit == fate.commits.front() ? std::nullopt : std::optional(sealed);
    sealed = life->lane().steps();
    all.shown.ledger +=
        ledger.append_lines({sealed, life->lane().position(), before, commit == world.steps}, keys, durable);
  }
  all.users = committed.table;
  return all;
}

bool others_stand_alike(const PairOfUsers& pair, const users::Table& one, const users::Table& two) {
  for (std::size_t i = 0; i < pair.rows.count(); ++i) {
    const users::UserHash user = hash_of(pair.rows.users[i]);
    if (!pair.rows.users[i].is_nobody() && user != pair.user && one.find(user) != two.find(user)) return false;
  }
  return true;
}

}  // namespace nustream::tests
