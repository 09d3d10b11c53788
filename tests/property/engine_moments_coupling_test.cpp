// The privacy argument of running sums, over random settings: under coupled noise a neighbouring stream shows the
// same releases, states included, and the shift of the noise that this takes costs no more than the mechanism claims.
//
// A failure names its seed: NUSTREAM_MOMENTS_SEED=123 plays that one again, and NUSTREAM_MOMENTS_PAIRS=1000000 plays
// another number of pairs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "config/moments.h"
#include "config_reading.h"
#include "engine/estimator.h"
#include "engine/noise_feed.h"
#include "engine/release_encoder.h"
#include "engine/stepper.h"
#include "nustream/moments/batch_sums.h"
#include "nustream/noise/correlation.h"
#include "secrets/keyring.h"
#include "secrets/locked_memory.h"

namespace nustream::tests {
namespace {

std::uint64_t asked(const char* name, std::uint64_t usual) {
  const char* const text = std::getenv(name);
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

/// Settings, all rows of a stream, and a neighbour that differs in one record.
struct Pair {
  config::Config config;
  config::Mechanism mechanism;
  record::RowBatch rows;
  record::RowBatch other;
  std::uint64_t steps;
  std::uint64_t record;         ///< the record in which the two streams differ
  std::vector<double> begun{};  ///< the centre of an epoch that continues another; empty: the start of the settings
  std::vector<std::vector<std::int64_t>> shift{};  ///< the shift of each noised block at the record's step
  bool has_grown = false;                          ///< whether a scale had grown by the record's step
};

/// The estimator with which the stream begins. That of an epoch which continues another begins about what the other
/// one released, which is public.
engine::Estimator first_lane(const Pair& pair) {
  engine::Estimator lane = engine::first_estimator(pair.config, pair.mechanism, Position{0});
  if (!pair.begun.empty()) lane.go_on_from({.theta = pair.begun});
  return lane;
}

std::string toml_of(std::mt19937_64& random, std::uint64_t every) {
  const auto draw = [&](std::uint64_t below) { return random() % below; };
  const std::size_t features = 1 + draw(3);
  const bool target_only = draw(4) == 0;
  const std::uint64_t stages = draw(3);
  // In a model with instrumental variables the last columns are the instruments, and then the endogenous regressors.
  const std::size_t endogenous = draw(3) == 0 ? 1 + draw(2) : 0;
  const std::size_t instruments = endogenous > 0 ? endogenous + draw(2) : 0;
  const std::size_t columns = features + instruments + endogenous;
  const auto kind_of = [&](std::size_t j) {
    return j < features ? "features" : j < features + instruments ? "instruments" : "endogenous";
  };
  std::string text = "[stream]\nname = \"pair\"\nformat = \"csv\"\nheader = false\ncolumns = [";
  for (std::size_t j = 0; j < columns; ++j) text += fmt::format("\"x{}\",", j);
  text += "\"y\"]\n[target]\ncolumn = \"y\"\ncenter = 0.5\nscale = 2\n";
  for (std::size_t j = 0; j < columns; ++j) {
    text += fmt::format("[[{}]]\ncolumn = \"x{}\"\ncenter = 0.25\n", kind_of(j), j);
  }
  const bool grows = endogenous == 0 && draw(3) == 0;
  text += fmt::format("[model]\nestimator = \"moments\"\nintercept = {}\n", grows || draw(2) == 0);
  text += fmt::format("[privacy]\nrho = {}\ndelta = 1e-6\nadjacency = \"{}\"\nprotects = \"{}\"\n",
                      std::pow(10.0, static_cast<double>(draw(4)) - 2), draw(2) == 0 ? "zero-out" : "replace-one",
                      target_only ? "target" : "record");
  text += fmt::format("[release]\nevery = {}\nmoments = {}\n", every, !grows && draw(2) == 0);
  text += fmt::format("[moments]\nrow_norm = {}\nresidual_bound = {}\nsecond_moment_share = {}\n",
                      1 + static_cast<double>(draw(3)), 1 + static_cast<double>(draw(3)),
                      0.2 + 0.1 * static_cast<double>(draw(6)));
  if (endogenous > 0) {
    text += fmt::format("regressor_bound = {}\nregressor_share = {}\n", 1 + static_cast<double>(draw(3)),
                        0.2 + 0.1 * static_cast<double>(draw(6)));
  }
  if (!grows && draw(3) == 0) text += fmt::format("memory = {}\n", (2 + draw(6)) * every);
  if (grows) text += "stages = \"growing\"\n";
  // Without an end, units are first looked at after more steps than there are here.
  if (draw(3) == 0 || grows) text += fmt::format("releases = {}\n", 12);
  if (draw(3) == 0) text += "residual_variance = 1.5\n";
  for (std::uint64_t s = 1; s <= stages && !grows; ++s) {
    text += fmt::format("[[moments.stages]]\nfrom = {}\nresidual_bound = {}\nrow_norm = {}\n", 3 * s * every,
                        1.0 / static_cast<double>(s), 1 + static_cast<double>(s));
  }
  if ((grows || stages > 0) && draw(2) == 0) {
    text += fmt::format("[intervals]\nkind = \"{}\"\n", draw(2) == 0 || endogenous > 0 ? "residuals" : "sandwich");
  }
  return text;
}

void add_row(record::RowBatch& rows, const std::vector<double>& x, double y) {
  rows.x.insert(rows.x.end(), x.begin(), x.end());
  rows.y.push_back(y);
  rows.next.push_back(rows.y.size());
}

/// A number of any size, and now and then NaN or an infinity.
double any_number(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  switch (random() % 12) {
    case 0:
      return std::numeric_limits<double>::quiet_NaN();
    case 1:
      return 1e300 * normal(random);
    case 2:
      return 1e-300 * normal(random);
    case 3:
      return 0;
    default:
      return std::pow(10.0, static_cast<double>(random() % 4)) * normal(random);
  }
}

std::vector<double> any_row(std::mt19937_64& random, const config::Config& config) {
  std::vector<double> x(config.schema.dimension());
  for (double& entry : x) entry = any_number(random);
  if (config.schema.intercept) x.front() = 1;
  // A record whose features make it unusable is a row of NaN.
  const bool usable = std::ranges::all_of(x, [](double entry) { return std::isfinite(entry); });
  if (!usable) std::ranges::fill(x, std::numeric_limits<double>::quiet_NaN());
  return x;
}

Pair draw_pair(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::uint64_t every = 1 + random() % 5;
  config::Config config = config::read({}, toml_of(random, every));
  config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  Pair pair{std::move(config), std::move(mechanism), {}, {}, 4 + random() % 8, 0};
  const std::uint64_t records = pair.steps * every;
  pair.record = random() % records;
  if (random() % 2 == 0) {
    pair.begun.resize(config::centre_size(pair.config));
    std::normal_distribution<double> normal;
    for (double& entry : pair.begun) entry = std::pow(10.0, static_cast<double>(random() % 3)) * normal(random);
  }
  pair.rows.dimension = pair.other.dimension = pair.config.schema.dimension();
  const bool target_only = pair.config.privacy.protects == config::Protects::target;
  const bool replaced = pair.config.privacy.adjacency == privacy::Adjacency::replace_one;
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (std::uint64_t i = 0; i < records; ++i) {
    std::vector<double> x = any_row(random, pair.config);
    const double y = any_number(random);
    add_row(pair.rows, x, y);
    double other_y = y;
    if (i == pair.record) {
      other_y = replaced ? any_number(random) : none;
      // The pairs that differ most: two opposite targets at the same inputs, or no record against a large one.
      if (replaced && random() % 2 == 0) other_y = -1e6 * y;
      if (!target_only) {
        if (!replaced) std::ranges::fill(x, none);
        if (replaced && random() % 2 == 0) x = any_row(random, pair.config);
      }
    }
    add_row(pair.other, x, other_y);
  }
  return pair;
}

/// The sums of one step under the lane's present settings. Because the library's own batch sums compute them, they
/// tell what the record moves, truncation included.
std::vector<std::vector<moments::Wide>> sums_of_step(const Pair& pair, const record::RowBatch& rows,
                                                     const moments::StageSums& stage) {
  const moments::Settings settings = config::moments_settings(pair.config, pair.mechanism);
  const moments::Design& design = settings.mechanism.design;
  moments::Spacings spacings;
  std::size_t next = 0;
  for (const moments::Block block : moments::blocks(design)) {
    spacings.push_back(moments::is_noised(design, block) ? pair.mechanism.grids[next++].spacing()
                                                         : moments::exact_spacing);
  }
  moments::BatchSums sums(design, spacings);
  sums.aim(stage.radii, stage.centre, stage.scales);
  const std::uint64_t every = pair.config.descent.minibatch;
  const std::uint64_t first = pair.record / every * every;
  sums.add(record::slice(rows, first, first + every));
  std::vector<std::vector<moments::Wide>> all;
  for (const moments::Block block : moments::blocks(design)) {
    const std::span<const moments::Wide> of = sums.sums(block);
    all.emplace_back(of.begin(), of.end());
  }
  return all;
}

/// A supply of noise that is shifted at one step.
class Shifted final : public engine::NoiseSupply {
 public:
  Shifted(const Pair& pair, const journal::NoiseCheckpoints& from, std::uint64_t next_step,
          const secrets::Keyring& keys, bool shifted)
      : pair_(pair),
        feed_(pair.mechanism, from, StepIndex{next_step}, &locked_, keys.healing(next_step > 0)),
        shifted_(shifted) {}

  std::span<const noise::GridNoise> take(std::size_t steps_max) override {
    const std::span<const noise::GridNoise> taken = feed_.take(steps_max);
    units_.clear();
    slices_.clear();
    for (std::size_t b = 0; b < taken.size(); ++b) {
      units_.emplace_back(taken[b].units.begin(), taken[b].units.end());
      const std::uint64_t step = pair_.record / pair_.config.descent.minibatch;
      const std::uint64_t first = taken[b].first.value();
      if (!shifted_ || step < first || step >= first + engine::steps_in(taken)) continue;
      const auto offset = static_cast<std::size_t>(step - first) * taken[b].dimension;
      for (std::size_t j = 0; j < taken[b].dimension; ++j) units_.back()[offset + j] += pair_.shift[b][j];
    }
    for (std::size_t b = 0; b < taken.size(); ++b) {
      slices_.push_back({taken[b].first, taken[b].dimension, units_[b]});
    }
    return slices_;
  }
  [[nodiscard]] journal::NoiseCheckpoints checkpoints() const override { return feed_.checkpoints(); }

 private:
  const Pair& pair_;
  secrets::LockedMemory locked_;
  engine::NoiseFeed feed_;
  bool shifted_;
  std::vector<std::vector<std::int64_t>> units_;
  std::vector<noise::GridNoise> slices_;
};

struct Shown {
  std::string releases;
  std::vector<std::string> states;  ///< the state at every commit
};

/// What a run shows that commits and dies at random steps, which `fate` decides. `state_before` receives the state
/// before the record's step.
Shown run(const Pair& pair, std::uint64_t seed, const record::RowBatch& rows, bool shifted, std::uint64_t fate,
          std::string* state_before = nullptr) {
  const secrets::Keyring keys = secrets::Keyring::insecure(seed);
  std::mt19937_64 random(fate);
  const std::uint64_t every = pair.config.descent.minibatch;
  publish::ReleaseEncoder encoder = engine::release_encoder(
      pair.config, pair.mechanism, {LaneId{0}, EpochId{0}, std::string(64, '0'), keys.is_private()});
  journal::NoiseCheckpoints noise = journal::first_checkpoints(keys.epoch_key(pair.config.stream), LaneId{0},
                                                               EpochId{0}, pair.mechanism.stages.size());
  Shown shown;
  std::string state = first_lane(pair).encode();
  std::uint64_t at = 0;
  while (at < pair.steps) {
    engine::Estimator lane = engine::decoded_estimator(pair.config, pair.mechanism, state);
    Shifted feed(pair, noise, at, keys, shifted);
    engine::Stepper stepper(lane, feed, encoder, every, std::nullopt, at);
    const std::uint64_t record_step = pair.record / every;
    std::uint64_t to = std::min(pair.steps, at + 1 + random() % 3);
    if (at < record_step) to = std::min(to, record_step);
    const bool dies = random() % 4 == 0;
    record::RowBatch rest;
    rest.dimension = rows.dimension;
    for (std::uint64_t i = at * every; i < to * every; ++i) {
      const double* const x = rows.x.data() + i * rows.dimension;
      add_row(rest, {x, x + rows.dimension}, rows.y[i]);
      rest.next.back() = i + 1;
    }
    engine::Output output;
    while (rest.count() >= every) static_cast<void>(stepper.step(rest, rest.count(), output));
    if (dies) continue;  // nothing of an uncommitted batch is out
    shown.releases += output.outbox;
    state = lane.encode();
    shown.states.push_back(state);
    noise = feed.checkpoints();
    at = to;
    if (at == record_step && state_before != nullptr) *state_before = state;
  }
  return shown;
}

/// The ρ that the shift costs: γ² of what is left of the stream, times the squared lengths of the shift in units of
/// σΔ.
double cost_of(const Pair& pair) {
  const std::uint64_t step = pair.record / pair.config.descent.minibatch;
  const std::vector<double> c =
      noise::strategy_coefficients(pair.mechanism.main().correlation, static_cast<std::size_t>(pair.steps - step));
  double gamma = 0;
  for (const double entry : c) gamma += entry * entry;
  double cost = 0;
  for (std::size_t b = 0; b < pair.shift.size(); ++b) {
    double squares = 0;
    for (const std::int64_t unit : pair.shift[b]) {
      squares += std::pow(static_cast<double>(unit) * pair.mechanism.grids[b].spacing(), 2);
    }
    cost += gamma * squares / (2 * std::pow(pair.mechanism.stages[b].stddev.value(), 2));
  }
  return cost;
}

/// Sets the shift from the radii, the scales and the centre of the record's step, which the state before that step
/// determines.
void aim_shift(Pair& pair, const std::string& state_before) {
  const std::uint64_t step = pair.record / pair.config.descent.minibatch;
  const moments::Settings settings = config::moments_settings(pair.config, pair.mechanism);
  moments::Lane before = moments::Lane::decode(settings, step == 0 ? first_lane(pair).encode() : state_before);
  // A row of zeros opens the step, and with it the stage that may begin there.
  record::RowBatch open;
  open.dimension = pair.rows.dimension;
  add_row(open, std::vector<double>(open.dimension), 0);
  moments::Releases none;
  std::vector<noise::GridNoise> noise;
  std::vector<std::vector<std::int64_t>> zeros;
  const std::vector<moments::Block> blocks = moments::noised_blocks(settings.mechanism.design);
  for (const moments::Block block : blocks) {
    zeros.emplace_back(moments::entries(settings.mechanism.design, block));
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) noise.push_back({StepIndex{step}, zeros[b].size(), zeros[b]});
  before.advance(record::slice(open, 0, 1), noise, none);
  const moments::StageSums& stage = before.sums().stages().back();
  const auto one = sums_of_step(pair, pair.rows, stage);
  const auto two = sums_of_step(pair, pair.other, stage);
  pair.has_grown = !stage.scales.empty();
  pair.shift.clear();
  std::size_t b = 0;
  for (const moments::Block block : moments::blocks(settings.mechanism.design)) {
    if (moments::is_noised(settings.mechanism.design, block)) {
      pair.shift.emplace_back();
      for (std::size_t j = 0; j < one[b].size(); ++j) {
        pair.shift.back().push_back(static_cast<std::int64_t>(one[b][j] - two[b][j]));
      }
    } else {
      EXPECT_TRUE(std::ranges::equal(one[b], two[b])) << "what is exact reads no target";
    }
    ++b;
  }
}

TEST(MomentsCoupling, NeighboursShowTheSameAtNoMoreThanTheClaim) {
  const std::uint64_t pairs = asked("NUSTREAM_MOMENTS_PAIRS", 1500);
  const std::uint64_t first = asked("NUSTREAM_MOMENTS_SEED", 1);
  double largest[2] = {0, 0};
  std::uint64_t moved = 0;
  std::uint64_t grown = 0;
  std::uint64_t seen_unshifted = 0;
  for (std::uint64_t seed = first; seed < first + pairs; ++seed) {
    Pair pair = draw_pair(seed);
    std::string before;
    const Shown one = run(pair, seed, pair.rows, false, seed, &before);
    aim_shift(pair, before);
    const Shown two = run(pair, seed, pair.other, true, seed);
    ASSERT_TRUE(one.releases == two.releases) << "seed " << seed << '\n' << one.releases << two.releases;
    ASSERT_TRUE(one.states == two.states) << "seed " << seed;
    const double cost = cost_of(pair);
    const double claim = pair.mechanism.spend.after(StepCount{pair.steps}).value();
    ASSERT_LE(cost, claim) << "seed " << seed;
    ASSERT_LE(claim, pair.config.privacy.rho->value()) << "seed " << seed;
    const bool replaced = pair.config.privacy.adjacency == privacy::Adjacency::replace_one;
    largest[replaced ? 1 : 0] = std::max(largest[replaced ? 1 : 0], cost / claim);
    if (cost > 0) {
      ++moved;
      grown += pair.has_grown ? 1U : 0U;
      if (seed % 8 == 0)
        seen_unshifted += run(pair, seed, pair.other, false, seed).releases != one.releases ? 1U : 0U;
    }
  }
  if (pairs < 1000) return;
  EXPECT_GT(moved, pairs / 3);
  EXPECT_GT(grown, pairs / 40) << "records come after scales have grown";
  EXPECT_GT(seen_unshifted, pairs / 40) << "the record shows where nothing is shifted";
  EXPECT_GT(largest[0], 0.95) << "a zero-out comes close to the claim";
  EXPECT_GT(largest[1], 0.6) << "so does a replacement";
}

}  // namespace
}  // namespace nustream::tests
