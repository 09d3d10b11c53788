#include "coupled_pair.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "config/moments.h"
#include "coupled_sums.h"
#include "decode/message_decoder.h"
#include "engine/estimator.h"

namespace nustream::tests {
namespace {

/// The texts decoded as a topic's values, or as a file that is read in passes.
record::RowBatch rows_of(const World& world, const Texts& texts, bool as_file) {
  record::RowBatch rows;
  config::Config config = world.settings->config;
  rows.dimension = config.schema.dimension();
  if (as_file) {
    config.input.files = {scratch_folder() + "/records"};
    std::string all;
    for (const RandomRecord& record : texts) all += record.value.value_or("") + '\n';
    std::ofstream(config.input.files.front(), std::ios::binary) << all;
    const auto reader = replay::open_window(config, world.window, 0);
    while (reader->read(rows, 4096)) {
    }
    return rows;
  }
  decode::MessageDecoder decoder(config.input, config.schema);
  decode::MessageBatch batch;
  std::vector<decode::MessageHeader> headers;
  for (std::uint64_t pass = 0; pass < world.window.passes; ++pass) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      decode::Message message;
      message.offset = pass * texts.size() + i;
      message.key = texts[i].key;
      message.value = texts[i].value;
      headers.clear();
      for (const auto& [name, value] : texts[i].headers) headers.push_back({name, value});
      message.headers = headers;
      batch.add(message);
    }
  }
  decoder.decode(batch.messages(), rows);
  return rows;
}

/// The text with another target, for a neighbouring stream whose targets alone are private.
std::string with_another_target(const World& world, const std::string& text, std::string other,
                                std::mt19937_64& random) {
  // The target stands behind the other columns. A record without these, or with quotation marks, stays as it is.
  std::size_t target = 0;
  for (std::size_t column = 1; column < world.stream.columns.size(); ++column) {
    const std::size_t comma = text.find(',', target);
    if (comma == std::string::npos || text.find('"') != std::string::npos) return text;
    target = comma + 1;
  }
  if (random() % 2 == 0) other = other.substr(other.rfind(',') + 1);
  return text.substr(0, target) + other;
}

/// A record that may stand in this record's place in a neighbouring stream.
RandomRecord neighbour_of(const World& world, const RandomRecord& record, std::mt19937_64& random) {
  RandomRecord other = random_message(world.stream, random());
  if (other.value && random() % 3 == 0) other.value = random_garbage(random(), true);
  if (world.settings->config.privacy.adjacency == privacy::Adjacency::zero_out) {
    other.value = random() % 2 == 0 ? "?" : "";
    if (random() % 4 == 0) other.value.reset();
  }
  if (world.stream.target_only) {
    RandomRecord same = record;
    if (same.value) same.value = with_another_target(world, *same.value, other.value.value_or(""), random);
    return same;
  }
  // Some neighbours differ only in what stands beside the value.
  const bool only_beside = world.stream.reads_key || world.stream.reads_header;
  if (only_beside && random() % 2 == 0) {
    other.value = record.value;
    // With such a key the record cannot be used, which is as if the record were not there.
    const bool zeroed = world.settings->config.privacy.adjacency == privacy::Adjacency::zero_out;
    if (zeroed && world.stream.reads_key) other.key = "?";
    if (zeroed && world.stream.reads_header) other.headers.clear();
  }
  return other;
}

/// By how many grid units the sums of the row's step change, where the lane is in this state before it.
std::vector<std::vector<std::int64_t>> difference_at(const Settings& settings, const std::string& state,
                                                     const record::RowBatch& here, const record::RowBatch& there,
                                                     std::size_t row) {
  const config::Config& config = settings.config;
  const config::Mechanism& mechanism = settings.mechanism;
  if (config.moments) return sums_difference(config::moments_settings(config, mechanism), state, here, there, row);
  const engine::Estimator lane = engine::decoded_estimator(config, mechanism, state);
  return gradient_difference(config.descent, mechanism.grids, lane.theta(), here, there, row);
}

/// The number of steps that horizon and budget allow.
std::uint64_t steps_within_limits(const World& world) {
  const engine::EpochLedger ledger = ledger_of(world, secrets::Keyring::insecure(0));
  const auto limit = ledger.limit(world.settings->config.privacy.budget, Position{0});
  return limit ? std::min(world.steps, limit->value()) : world.steps;
}

}  // namespace

std::vector<std::uint64_t> draw_commits(std::mt19937_64& random, const World& world) {
  std::vector<std::uint64_t> commits{world.steps};
  for (std::uint64_t more = random() % 6; more > 0; --more) commits.push_back(random() % (world.steps + 1));
  std::sort(commits.begin(), commits.end());
  commits.erase(std::unique(commits.begin(), commits.end()), commits.end());
  return commits;
}

Fate draw_fate(std::mt19937_64& random, std::vector<std::uint64_t> commits) {
  Fate fate{std::move(commits), {}, 0};
  std::uint64_t previous = 0;
  for (const std::uint64_t commit : fate.commits) {
    if (random() % 3 == 0) fate.deaths.emplace(commit, previous + random() % (commit - previous + 1));
    previous = commit;
  }
  return fate;
}

Pair draw_pair(const World& world, std::uint64_t seed, bool as_file) {
  std::mt19937_64 random(seed * 0x2545f4914f6cdd1dU + 3);
  Pair pair;
  for (std::uint64_t i = 0; i < *world.window.end; ++i) pair.here.push_back(random_message(world.stream, random()));
  pair.there = pair.here;
  const std::size_t record = random() % pair.here.size();
  pair.there[record] = neighbour_of(world, pair.here[record], random);
  const config::Config& config = world.settings->config;
  pair.as_file = as_file && !world.stream.reads_key && !world.stream.reads_header;
  pair.beside = pair.here[record].value == pair.there[record].value;
  pair.rows = rows_of(world, pair.here, pair.as_file);
  pair.other = rows_of(world, pair.there, pair.as_file);
  pair.steps = steps_within_limits(world);
  std::vector<std::size_t> taken;
  for (std::uint64_t pass = 0; pass < world.window.passes; ++pass) {
    const std::size_t row = pass * pair.here.size() + record;
    if (row / config.descent.minibatch >= pair.steps) break;
    pair.stops.push_back(row / config.descent.minibatch);
    taken.push_back(row);
  }
  pair.fate = draw_fate(random, draw_commits(random, world));
  const std::vector<std::uint64_t>& commits = pair.fate.commits;
  for (const std::uint64_t stop : pair.stops) {
    pair.inside = pair.inside || (stop > 0 && !std::binary_search(commits.begin(), commits.end(), stop));
  }
  pair.shown = run(world, seed, pair.rows, {}, pair.fate);
  const std::vector<std::string> states = states_before(world, seed, pair.rows, pair.stops);
  for (std::size_t i = 0; i < pair.stops.size(); ++i) {
    auto shift = difference_at(*world.settings, states[i], pair.rows, pair.other, taken[i]);
    for (const auto& stage : shift) pair.moved = pair.moved || stage != std::vector<std::int64_t>(stage.size());
    pair.shifts.emplace(pair.stops[i], std::move(shift));
  }
  return pair;
}

std::string above_claim(const Settings& settings, const Claims& claims, const Shifts& shifts, std::uint64_t steps,
                        LargestShares& shares) {
  std::vector<double> cost(claims.spend.size());
  for (std::size_t i = 0; i < claims.encoders.size(); ++i) {
    const config::CalibratedStage& stage = settings.mechanism.stages[i];
    const double claimed = stage.sensitivity.value() * stage.displacement.value();
    const std::vector<double> squares = claims.encoders[i].squares(shifts, i);
    const double norm = std::sqrt(squares.back()) * settings.mechanism.grids[i].spacing();
    // The tolerance is for the rounding of the twin itself.
    if (!(norm <= claimed * (1 + 1e-12))) return fmt::format("‖C(z' − z)‖ = {} beyond the claimed {}", norm, claimed);
    shares.of_sensitivity = std::max(shares.of_sensitivity, norm / claimed);
    const double twice_variance = 2 * claims.stddevs[i] * claims.stddevs[i];
    for (std::size_t step = 0; step < cost.size(); ++step) cost[step] += squares[step] / twice_variance;
  }
  for (std::size_t step = 0; step < cost.size(); ++step) {
    // A σ of about 2^32 grid units is known to half a unit.
    if (cost[step] <= claims.spend[step] * (1 + 1e-9)) continue;
    return fmt::format("after {} steps ρ = {} beyond the running spend of {}", step, cost[step], claims.spend[step]);
  }
  const double asked = config::rho_asked(settings.config.privacy).value();
  const double limit = settings.mechanism.spend.limit().value();
  if (!(limit <= asked)) return fmt::format("ρ = {} is the limit where {} is asked for", limit, asked);
  if (steps == 0) return {};
  double& share = shares.of_spend[settings.mechanism.main().correlation.name()];
  share = std::max(share, cost[steps] / claims.spend[steps]);
  return {};
}

std::string above_claim(const World& world, const Pair& pair, LargestShares& shares) {
  return above_claim(*world.settings, world.claims, pair.shifts, pair.steps, shares);
}

}  // namespace nustream::tests
