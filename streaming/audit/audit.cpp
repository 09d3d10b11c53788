// An audit from settings to finding: the match that is played (match_of()), the claim, pilots for the statistic, then
// games on two threads, whose counts become bounds. Thresholds and weights are fixed before the games that are
// judged.
#include "audit/audit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <span>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "audit/game.h"
#include "audit/games_played.h"
#include "audit/played.h"
#include "audit/statistic.h"
#include "audit/worst_user.h"
#include "config/mechanism.h"
#include "engine/table_design.h"
#include "nustream/base/error.h"
#include "nustream/privacy/epsilon.h"
#include "secrets/random.h"

namespace nustream::audit {
namespace {

constexpr unsigned threads = 2;
constexpr std::uint64_t table_records = 4;
/// How many rows a canary user has in a step of running sums: few_rows where a step has that many, and more, up to
/// many_rows, where the user's sum would otherwise be shorter than is claimed.
constexpr std::uint64_t few_rows = 4;
constexpr std::uint64_t many_rows = 256;

/// Games in each world. A small ε needs more games, because the rates that distinguish the worlds are closer
/// together.
std::uint64_t runs_for(double epsilon) {
  return epsilon < 0.75 ? 4'000'000 : 1'000'000;
}

/// A random step of the first pass. The remainder is biased by at most 2^-56 of it, which does not matter here.
std::uint64_t random_step(std::uint64_t steps) {
  const noise::KeyBytes bytes = secrets::random_key();
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof word);
  return word % steps;
}

/// The settings and the shape of the games, and what is claimed about them.
struct Match {
  config::Config config;
  config::Mechanism mechanism;
  GameShape shape;
  Rho claimed;
  std::uint64_t descents = 1;  ///< how many descents of a table share the budget
};

/// A canary user: its limits say in which steps it takes part, and the ledger's lines say what that may cost.
Match users_match(config::Config config, const Options& options) {
  config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  WorstUser worst = worst_user(config, mechanism, options);
  return {std::move(config), std::move(mechanism), std::move(worst.shape), worst.claimed, 1};
}

/// A canary record of a stream, once or once a pass.
Match stream_match(config::Config config, const Options& options) {
  if (config.descent.users) return users_match(std::move(config), options);
  const std::uint64_t separation = options.steps / options.passes;
  const privacy::Participation participation =
      options.passes == 1 ? privacy::Participation::once() : privacy::Participation{options.passes, separation};
  config::Mechanism mechanism = config::make_mechanism(config, participation);
  // A canary that comes later has been seen for fewer steps when the game ends. So its claim is the spend by age.
  const bool late = options.passes == 1 && options.at.value_or(0) > 0;
  const Rho claimed = late ? mechanism.spend.of_age(StepCount{options.steps - *options.at})
                           : mechanism.spend.after(StepCount{options.steps});
  GameShape shape{options.steps, {}, options.along_axis};
  for (std::uint64_t at = options.at.value_or(0); at < options.steps; at += separation) shape.at.push_back(at);
  return {std::move(config), std::move(mechanism), std::move(shape), claimed, 1};
}

/// The canary is the table's first record, which is in the first minibatch of every pass. Where the unit is the user,
/// it is a user who has all rows and takes part in every step.
Match table_match(config::Config config, const Options& options) {
  const std::uint64_t of_step = config.moments ? std::max<std::uint64_t>(1, config.descent.minibatch) : 1;
  const engine::TableDesign design = engine::settle_design(config, options.records.value_or(table_records * of_step));
  config::Mechanism mechanism = config::make_mechanism(config, design.participation(), StepCount{design.steps});
  GameShape shape{std::min(options.steps, design.steps), {}, options.along_axis};
  const std::uint64_t separation = design.of_users ? 1 : design.steps_of_a_pass;
  for (std::uint64_t at = 0; at < shape.steps; at += separation) shape.at.push_back(at);
  const Rho claimed = mechanism.spend.after(StepCount{shape.steps});
  return {std::move(config), std::move(mechanism), std::move(shape), claimed, design.runs};
}

/// Where the unit is the user, a step of running sums has only the canary's rows. Their number is doubled until more
/// rows would hardly show more, or until the settings' minibatch, many_rows or --records is reached.
Match match_of(const config::Config& config, config::Purpose purpose, const Options& options) {
  const auto of = [&](config::Config played) {
    return purpose == config::Purpose::table ? table_match(std::move(played), options)
                                             : stream_match(std::move(played), options);
  };
  if (!config.moments) return of(config);
  if (!config.users || config.descent.minibatch == 0) return of(with_steps_of(config, 1));
  constexpr double nearly_all = 0.95;
  const std::uint64_t most = std::min({config.descent.minibatch, many_rows, options.records.value_or(many_rows)});
  for (std::uint64_t rows = std::min(few_rows, most);; rows = std::min(2 * rows, most)) {
    Match match = of(with_steps_of(config, rows));
    if (rows == most || reach_in_games(match.config, match.mechanism, match.shape) >= nearly_all) return match;
  }
}

/// How often the record was guessed to be there, at each of the two thresholds.
struct Tally {
  Counts epsilon;
  Counts mu;
  Game::Participations participations;
};

/// Plays one game under a fresh key and wipes the key.
std::span<const StageRatio> play_once(Game& game, World world) {
  noise::KeyBytes key = secrets::random_key();
  const auto ratios = game.play(world, key);
  noise::wipe(key);
  return ratios;
}

/// Pilot games in each world. With this number, chance in the weights of a few stages costs at most some tenths of a
/// percent of μ.
std::size_t pilots_for(double mu) {
  return static_cast<std::size_t>(std::clamp(2'000 / (mu * mu), 2'000.0, 50'000.0));
}

Statistic statistic_of(Game game, std::size_t stages) {
  if (stages == 1) return Statistic(game.mu());
  return {stages, pilots_for(game.mu()), [&game](World world) { return play_once(game, world); }};
}

// A game is one guess at each threshold. Each thread has its own tally, because threads share nothing but the count
// of games.
void play(Game& game, const Statistic& statistic, const Thresholds& thresholds, std::uint64_t runs, GamesPlayed& all,
          Tally& tally) {
  for (std::uint64_t run = 0; run < runs; ++run) {
    for (const World world : {World::without, World::with}) {
      const double seen = statistic.of(play_once(game, world));
      const auto count = [&](Counts& counts, double threshold) {
        std::uint64_t& guesses = world == World::with ? counts.with : counts.without;
        // A statistic that is not a number counts as a guess "it is there": it gives the record away if it comes more
        // often with the record.
        guesses += seen <= threshold ? 0U : 1U;
      };
      count(tally.epsilon, thresholds.epsilon);
      count(tally.mu, thresholds.mu);
      all.one_more();
    }
  }
  tally.epsilon.runs = tally.mu.runs = runs;
  tally.participations = game.participations();
}

Counts together(const Counts& a, const Counts& b) {
  return {a.runs + b.runs, a.without + b.without, a.with + b.with};
}

Game::Participations together(Game::Participations a, const Game::Participations& b) {
  a.all += b.all;
  a.games += b.games;
  a.shorter.resize(b.shorter.size());
  a.information.resize(b.information.size());
  for (std::size_t i = 0; i < b.shorter.size(); ++i) {
    a.shorter[i] += b.shorter[i];
    a.information[i] += b.information[i];
  }
  return a;
}

Tally play_all(std::vector<Game>& games, const Statistic& statistic, const Thresholds& thresholds,
               std::uint64_t runs) {
  std::vector<Tally> tallies(games.size());
  // An exception must not leave its thread; the first one is thrown again when all threads have ended.
  std::vector<std::exception_ptr> failures(games.size());
  {
    GamesPlayed played(2 * runs);
    std::vector<std::jthread> players;
    for (std::size_t i = 0; i < games.size(); ++i) {
      players.emplace_back([&, i] {
        try {
          play(games[i], statistic, thresholds, runs / games.size(), played, tallies[i]);
        } catch (...) {
          failures[i] = std::current_exception();
        }
      });
    }
  }
  Tally all;
  for (std::size_t i = 0; i < games.size(); ++i) {
    if (failures[i]) std::rethrow_exception(failures[i]);
    all.epsilon = together(all.epsilon, tallies[i].epsilon);
    all.mu = together(all.mu, tallies[i].mu);
    all.participations = together(all.participations, tallies[i].participations);
  }
  return all;
}

/// The claim about these worlds, before anything is proven. Where neighbours are replace-one and one of them has
/// nothing, the claim is what the smaller displacement costs if the noise is as claimed.
Bounds claim(const Match& match, Absent absent, double delta) {
  const Rho rho{part_of_rho(match.config, match.mechanism, absent) * match.claimed.value()};
  Bounds bounds{};
  bounds.rho = rho.value();
  bounds.mu = std::sqrt(2 * rho.value());
  bounds.epsilon = privacy::epsilon(rho, Delta{delta}).value();
  return bounds;
}

/// Plays the games of these two worlds and bounds ε and μ from below.
Bounds prove(const Match& match, Absent absent, const Options& options, Confidence confidence) {
  const double delta = options.delta;
  Bounds bounds = claim(match, absent, delta);
  const std::uint64_t runs = options.runs.value_or(runs_for(bounds.epsilon)) / threads * threads;
  bounds.runs = runs;
  const auto new_game = [&] { return Game(match.config, match.mechanism, match.shape, absent); };
  const Statistic statistic = statistic_of(new_game(), match.mechanism.stages.size());
  std::vector<Game> games;
  for (unsigned i = 0; i < threads; ++i) games.push_back(new_game());
  const Tally tally = play_all(games, statistic, thresholds_for(bounds.mu, delta, runs, confidence), runs);
  bounds.mu_of_filter = games.front().mu();
  bounds.epsilon_bound = epsilon_lower_bound(tally.epsilon, delta, confidence);
  bounds.mu_bound = mu_lower_bound(tally.mu, confidence);
  // No mechanism can do better than one whose guesses are all right. So this is the most that the games can prove.
  bounds.epsilon_provable = epsilon_lower_bound({runs, 0, runs}, delta, confidence);
  bounds.mu_provable = mu_lower_bound({runs, 0, runs}, confidence);
  const Game::Participations& seen = tally.participations;
  for (std::size_t i = 0; i < match.mechanism.stages.size(); ++i) {
    const std::string name(match.mechanism.stages[i].name);
    const double claimed = static_cast<double>(seen.games) * games.front().information_claimed(i);
    bounds.shorter.emplace_back(name, static_cast<double>(seen.shorter[i]) / static_cast<double>(seen.all));
    bounds.moved.emplace_back(name, seen.information[i] / claimed);
  }
  return bounds;
}

[[noreturn]] void refuse(const std::string& what) {
  throw Failure(Exit::usage, "audit: " + what);
}

/// Checks the epochs and windows of a canary user.
void check_parts(bool table, bool of_users, const Options& options) {
  const bool is_allowed = options.epochs == 1 || (options.epochs == 2 && of_users && !table);
  if (!is_allowed || options.steps % (options.epochs * options.windows) != 0) {
    refuse(
        fmt::format("epochs and windows are for settings whose unit is the user: 1 or 2 epochs, which together with "
                    "the windows divide --steps {}",
                    options.steps));
  }
}

/// Checks the steps, the passes, and where the record is.
void check_steps(bool table, bool of_users, const Options& options) {
  if (options.steps == 0 || options.steps > 256) refuse("--steps: allowed is 1 to 256");
  if (options.passes == 0 || options.steps % options.passes != 0) {
    refuse(fmt::format("--passes {}: allowed is a divisor of --steps {}", options.passes, options.steps));
  }
  check_parts(table, of_users, options);
  const std::uint64_t of_a_pass = options.steps / options.passes;
  if ((table || of_users) && (options.passes != 1 || options.at || options.at_random)) {
    refuse(std::string("--passes, --at: ") + (table ? "a table's own settings say" : "[users] says") +
           " who takes part");
  }
  if (options.at.value_or(0) >= of_a_pass) {
    refuse(fmt::format("--at {}: allowed is 0 to {}, a step of the first pass (--steps {}, --passes {})", *options.at,
                       of_a_pass - 1, options.steps, options.passes));
  }
}

void check(config::Purpose purpose, bool of_users, const Options& options) {
  const bool table = purpose == config::Purpose::table;
  check_steps(table, of_users, options);
  if (options.records && !table) refuse("--records: only for a table; these settings have no section [estimate]");
  if (options.records.value_or(1) == 0 || options.records.value_or(1) > 256) refuse("--records: allowed is 1 to 256");
  if (!(options.delta > 0 && options.delta < 1)) refuse("--delta: allowed is a number between 0 and 1");
  if (options.runs && *options.runs < 1000) refuse("--runs: allowed is 1000 or more");
}

}  // namespace

Finding audit(const config::Config& config, config::Purpose purpose, const Options& asked) {
  check(purpose, config.users.has_value(), asked);
  if (config.moments && config.moments->solution == moments::Solution::adassp) {
    throw Failure(Exit::usage,
                  "audit: moments.solve = \"adassp\": the games are made for sums, and its smallest eigenvalue "
                  "is none; audit the moments with --set moments.solve=floored");
  }
  Options options = asked;
  if (options.at_random) options.at = random_step(options.steps / options.passes);
  const Match match = match_of(config, purpose, options);
  const bool against_nothing =
      config.privacy.adjacency == privacy::Adjacency::replace_one && match.mechanism.stages.size() > 1;
  // Two pairs of worlds share the error. Each bound gets half of it, so that all hold together at the stated level.
  const Confidence confidence;
  const Confidence of_each{1 - (1 - confidence.level) / (against_nothing ? 2 : 1)};
  Finding finding{claim(match, Absent::neighbour, options.delta),
                  match.shape.steps,
                  match.shape.at.front(),
                  is_projected(config),
                  config::rho_asked(config.privacy).value(),
                  match.mechanism.spend.limit().value() * static_cast<double>(match.descents),
                  match.descents,
                  confidence,
                  {}};
  // A mechanism that costs more than it was asked for is false without any game.
  if (!finding.is_within_budget()) return finding;
  static_cast<Bounds&>(finding) = prove(match, Absent::neighbour, options, of_each);
  if (against_nothing) finding.against_nothing = prove(match, Absent::nothing, options, of_each);
  return finding;
}

}  // namespace nustream::audit
