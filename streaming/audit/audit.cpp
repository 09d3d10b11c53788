#include "audit/audit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "audit/game.h"
#include "config/mechanism.h"
#include "estimate/design.h"
#include "nustream/base/error.h"
#include "nustream/privacy/epsilon.h"
#include "publish/json_text.h"
#include "replay/path_printer.h"
#include "secrets/random.h"

namespace nustream::audit {
namespace {

constexpr unsigned threads = 2;

/// Small ε needs more games: the rates that tell the worlds apart are closer together.
std::uint64_t runs_for(double epsilon) {
  return epsilon < 0.75 ? 4'000'000 : 1'000'000;
}

/// A step of the first pass; the remainder's bias, 2^-56 of it, does not matter here.
std::uint64_t random_step(std::uint64_t steps) {
  const noise::KeyBytes bytes = secrets::random_key();
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof word);
  return word % steps;
}

/// What is played, and what is claimed about it.
struct Match {
  config::Config config;
  config::Mechanism mechanism;
  GameShape shape;
  Rho claimed;
};

Match stream_match(const config::Config& config, const Options& options) {
  const std::uint64_t separation = options.steps / options.passes;
  const privacy::Participation participation =
      options.passes == 1 ? privacy::Participation::once() : privacy::Participation{options.passes, separation};
  config::Mechanism mechanism = config::make_mechanism(config, participation);
  // A canary that comes later has been seen for fewer steps: its claim is the spend by age.
  const bool late = options.passes == 1 && options.at.value_or(0) > 0;
  const Rho claimed = late ? mechanism.spend.of_age(StepCount{options.steps - *options.at})
                           : mechanism.spend.after(StepCount{options.steps});
  GameShape shape{options.steps, {}};
  for (std::uint64_t at = options.at.value_or(0); at < options.steps; at += separation) shape.at.push_back(at);
  return {config, std::move(mechanism), std::move(shape), claimed};
}

/// The canary is the table's first record: in the first minibatch of every pass.
Match table_match(config::Config config, const Options& options) {
  const estimate::Design design = estimate::settle_design(config, options.records);
  config::Mechanism mechanism = config::make_mechanism(config, design.participation(), StepCount{design.steps});
  GameShape shape{std::min(options.steps, design.steps), {}};
  for (std::uint64_t at = 0; at < shape.steps; at += design.steps_of_a_pass) shape.at.push_back(at);
  const Rho claimed = mechanism.spend.after(StepCount{shape.steps});
  return {std::move(config), std::move(mechanism), std::move(shape), claimed};
}

/// Guesses at both thresholds.
struct Tally {
  Counts epsilon;
  Counts mu;
  Game::Participations participations;
};

void play(Game& game, const Thresholds& thresholds, std::uint64_t runs, Tally& tally) {
  for (std::uint64_t run = 0; run < runs; ++run) {
    for (const World world : {World::without, World::with}) {
      noise::KeyBytes key = secrets::random_key();
      const double statistic = game.play(world, key);
      noise::wipe(key);
      const auto count = [&](Counts& counts, double threshold) {
        std::uint64_t& guesses = world == World::with ? counts.with : counts.without;
        // What is no number gives the record away where it comes more often with it.
        guesses += statistic <= threshold ? 0U : 1U;
      };
      count(tally.epsilon, thresholds.epsilon);
      count(tally.mu, thresholds.mu);
    }
  }
  tally.epsilon.runs = tally.mu.runs = runs;
  tally.participations = game.participations();
}

Counts together(const Counts& a, const Counts& b) {
  return {a.runs + b.runs, a.without + b.without, a.with + b.with};
}

Tally play_all(const Match& match, const Thresholds& thresholds, std::uint64_t runs) {
  std::vector<Tally> tallies(threads);
  std::vector<std::exception_ptr> failures(threads);
  {
    std::vector<std::jthread> players;
    for (unsigned i = 0; i < threads; ++i) {
      players.emplace_back([&, i] {
        try {
          Game game(match.config, match.mechanism, match.shape);
          play(game, thresholds, runs / threads, tallies[i]);
        } catch (...) {
          failures[i] = std::current_exception();
        }
      });
    }
  }
  Tally all;
  for (unsigned i = 0; i < threads; ++i) {
    if (failures[i]) std::rethrow_exception(failures[i]);
    all.epsilon = together(all.epsilon, tallies[i].epsilon);
    all.mu = together(all.mu, tallies[i].mu);
    all.participations.all += tallies[i].participations.all;
    all.participations.shorter += tallies[i].participations.shorter;
  }
  return all;
}

void check(config::Purpose purpose, const Options& options) {
  const auto refuse = [&](const std::string& what) { throw Failure(Exit::usage, "audit: " + what); };
  const bool table = purpose == config::Purpose::table;
  if (options.steps == 0 || options.steps > 256) refuse("--steps: allowed is 1 to 256");
  if (options.passes == 0 || options.steps % options.passes != 0) refuse("--passes: allowed is a divisor of --steps");
  if (options.at.value_or(0) >= options.steps / options.passes) refuse("--at: allowed is a step of the first pass");
  if (table && (options.passes != 1 || options.at || options.at_random))
    refuse("--passes, --at: a table's own settings say who takes part");
  if (options.records == 0 || options.records > 256) refuse("--records: allowed is 1 to 256");
  if (!(options.delta > 0 && options.delta < 1)) refuse("--delta: allowed is a number between 0 and 1");
  if (options.runs && *options.runs < 1000) refuse("--runs: allowed is 1000 or more");
}

}  // namespace

Finding audit(const config::Config& config, config::Purpose purpose, const Options& asked) {
  check(purpose, asked);
  Options options = asked;
  if (options.at_random) options.at = random_step(options.steps / options.passes);
  const Match match =
      purpose == config::Purpose::table ? table_match(config, options) : stream_match(config, options);
  const double rho = match.claimed.value();
  Finding finding{};
  finding.steps = match.shape.steps;
  finding.at = match.shape.at.front();
  finding.unprojected = is_projected(config);
  finding.rho = rho;
  finding.mu = std::sqrt(2 * rho);
  finding.epsilon = privacy::epsilon(match.claimed, Delta{options.delta}).value();
  finding.runs = options.runs.value_or(runs_for(finding.epsilon)) / threads * threads;
  const Thresholds thresholds = thresholds_for(finding.mu, options.delta, finding.runs, finding.confidence);
  finding.mu_of_filter = Game(match.config, match.mechanism, match.shape).mu();
  const Tally tally = play_all(match, thresholds, finding.runs);
  finding.shorter_share =
      static_cast<double>(tally.participations.shorter) / static_cast<double>(tally.participations.all);
  finding.epsilon_bound = epsilon_lower_bound(tally.epsilon, options.delta, finding.confidence);
  finding.mu_bound = mu_lower_bound(tally.mu, finding.confidence);
  finding.epsilon_provable = epsilon_lower_bound({finding.runs, 0, finding.runs}, options.delta, finding.confidence);
  return finding;
}

namespace {

void print(const config::Config& config, const Options& options, const Finding& finding) {
  fmt::print("{}: {} games of {} steps in each of two worlds, fresh keys, every step released\n", config.file,
             replay::with_separators(finding.runs), finding.steps);
  fmt::print("{:<10}  {:>10}  {:>12}\n", "", "claimed", "proven");
  fmt::print("{:<10}  {:>10.6g}  {:>12.6g}   at delta {:g}\n", "epsilon", finding.epsilon, finding.epsilon_bound,
             options.delta);
  fmt::print("{:<10}  {:>10.6g}  {:>12.6g}   of the Gaussian curve\n", "mu", finding.mu, finding.mu_bound);
  fmt::print("rho {:.6g} after {} steps; proven with {:g}% confidence, from below (Clopper-Pearson)\n", finding.rho,
             finding.steps, 100 * finding.confidence.level);
  if (finding.at > 0) fmt::print("the record came at step {}, counted from 0\n", finding.at);
  if (finding.unprojected) {
    fmt::print(
        "played without the projection, which hides a part of the noisy gradients: this is the stronger adversary\n");
  }
  if (finding.shorter_share > 0) {
    fmt::print(
        "in {:.3g}% of its steps the record showed less than is claimed, for a gradient was shorter than its clip "
        "norm: with a smaller descent.step_size, on which no claim depends, gradients stay long; a second stage "
        "without controls has none until the first has moved (--at)\n",
        100 * finding.shorter_share);
  }
  if (finding.mu_bound == 0) {
    fmt::print("no trace of the record was seen: games as few as these say nothing of a claim as small as this\n");
  }
  if (finding.epsilon > finding.epsilon_provable) {
    fmt::print(
        "so many games can prove no epsilon above {:.4g}, whatever the mechanism: take a smaller rho, or more\n",
        finding.epsilon_provable);
  }
  fmt::print("{}\n", finding.holds()
                         ? "the claim holds: nothing above it was proven"
                         : "THE CLAIM DOES NOT HOLD: an adversary tells the record more surely than it allows");
}

std::string to_json(const config::Config& config, const Options& options, const Finding& finding) {
  std::string out = "{\"stream\":";
  publish::append_string(config.stream, out);
  out += fmt::format(",\"runs\":{},\"steps\":{},\"at\":{}", finding.runs, finding.steps, finding.at);
  for (const auto& [key, value] :
       {std::pair{"delta", options.delta}, std::pair{"confidence", finding.confidence.level},
        std::pair{"rho", finding.rho}, std::pair{"epsilon", finding.epsilon},
        std::pair{"epsilon_lower_bound", finding.epsilon_bound}, std::pair{"mu", finding.mu},
        std::pair{"mu_lower_bound", finding.mu_bound}, std::pair{"mu_of_filter", finding.mu_of_filter},
        std::pair{"shorter_share", finding.shorter_share}}) {
    publish::append_field(key, value, out);
  }
  return out + (finding.holds() ? ",\"holds\":true}" : ",\"holds\":false}");
}

}  // namespace

Exit run(const config::Config& config, config::Purpose purpose, const Options& options) {
  const Finding finding = audit(config, purpose, options);
  if (options.json) {
    fmt::print("{}\n", to_json(config, options, finding));
  } else {
    print(config, options, finding);
  }
  return finding.holds() ? Exit::done : Exit::internal;
}

}  // namespace nustream::audit
