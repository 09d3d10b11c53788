#include "audit/audit.h"

#include <cmath>
#include <exception>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "audit/game.h"
#include "config/mechanism.h"
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

GameShape shape_of(const Options& options) {
  GameShape shape{options.steps, {}};
  const std::uint64_t separation = options.steps / options.passes;
  for (std::uint64_t pass = 0; pass < options.passes; ++pass) {
    shape.at.push_back(options.at.value_or(0) + pass * separation);
  }
  return shape;
}

privacy::Participation participation_of(const Options& options) {
  if (options.passes == 1) return privacy::Participation::once();
  return {options.passes, options.steps / options.passes};
}

/// Guesses at both thresholds.
struct Tally {
  Counts epsilon;
  Counts mu;
};

void play(Game& game, const Thresholds& thresholds, std::uint64_t runs, Tally& tally) {
  for (std::uint64_t run = 0; run < runs; ++run) {
    for (const World world : {World::without, World::with}) {
      noise::KeyBytes key = secrets::random_key();
      const double statistic = game.play(world, key);
      noise::wipe(key);
      const auto count = [&](Counts& counts, double threshold) {
        std::uint64_t& guesses = world == World::with ? counts.with : counts.without;
        guesses += statistic > threshold ? 1U : 0U;
      };
      count(tally.epsilon, thresholds.epsilon);
      count(tally.mu, thresholds.mu);
    }
  }
  tally.epsilon.runs = tally.mu.runs = runs;
}

Counts together(const Counts& a, const Counts& b) {
  return {a.runs + b.runs, a.without + b.without, a.with + b.with};
}

Tally play_all(const config::Config& config, const config::Mechanism& mechanism, const GameShape& shape,
               const Thresholds& thresholds, std::uint64_t runs) {
  std::vector<Tally> tallies(threads);
  std::vector<std::exception_ptr> failures(threads);
  {
    std::vector<std::jthread> players;
    for (unsigned i = 0; i < threads; ++i) {
      players.emplace_back([&, i] {
        try {
          Game game(config, mechanism, shape);
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
    all = {together(all.epsilon, tallies[i].epsilon), together(all.mu, tallies[i].mu)};
  }
  return all;
}

void check(const config::Config& config, const Options& options) {
  const auto refuse = [&](const std::string& what) { throw Failure(Exit::usage, config.file + ": " + what); };
  if (options.steps == 0 || options.steps > 256) refuse("--steps: allowed is 1 to 256");
  if (options.passes == 0 || options.steps % options.passes != 0) refuse("--passes: allowed is a divisor of --steps");
  if (options.at.value_or(0) >= options.steps / options.passes) refuse("--at: allowed is a step of the first pass");
  if (!(options.delta > 0 && options.delta < 1)) refuse("--delta: allowed is a number between 0 and 1");
  if (options.runs && *options.runs < 1000) refuse("--runs: allowed is 1000 or more");
}

}  // namespace

Finding audit(const config::Config& config, const Options& options) {
  check(config, options);
  const config::Mechanism mechanism = config::make_mechanism(config, participation_of(options));
  const GameShape shape = shape_of(options);
  // A canary that comes later has been seen for fewer steps: its claim is the spend by age.
  const bool late = options.passes == 1 && options.at.value_or(0) > 0;
  const Rho claimed = late ? mechanism.spend.of_age(StepCount{options.steps - *options.at})
                           : mechanism.spend.after(StepCount{options.steps});
  Finding finding{};
  finding.steps = options.steps;
  finding.rho = claimed.value();
  finding.mu = std::sqrt(2 * claimed.value());
  finding.epsilon = privacy::epsilon(claimed, Delta{options.delta}).value();
  finding.runs = options.runs.value_or(runs_for(finding.epsilon)) / threads * threads;
  const Thresholds thresholds = thresholds_for(finding.mu, options.delta, finding.runs, finding.confidence);
  finding.mu_of_filter = Game(config, mechanism, shape).mu();
  const Tally tally = play_all(config, mechanism, shape, thresholds, finding.runs);
  finding.epsilon_bound = epsilon_lower_bound(tally.epsilon, options.delta, finding.confidence);
  finding.mu_bound = mu_lower_bound(tally.mu, finding.confidence);
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
  if (!finding.holds()) {
    fmt::print("THE CLAIM DOES NOT HOLD: an adversary tells the record more surely than it allows\n");
  }
}

std::string to_json(const config::Config& config, const Options& options, const Finding& finding) {
  std::string out = "{\"stream\":";
  publish::append_string(config.stream, out);
  out += fmt::format(",\"runs\":{},\"steps\":{}", finding.runs, finding.steps);
  for (const auto& [key, value] :
       {std::pair{"delta", options.delta}, std::pair{"confidence", finding.confidence.level},
        std::pair{"rho", finding.rho}, std::pair{"epsilon", finding.epsilon},
        std::pair{"epsilon_lower_bound", finding.epsilon_bound}, std::pair{"mu", finding.mu},
        std::pair{"mu_lower_bound", finding.mu_bound}, std::pair{"mu_of_filter", finding.mu_of_filter}}) {
    out += fmt::format(",\"{}\":", key);
    publish::append_number(value, out);
  }
  return out + (finding.holds() ? ",\"holds\":true}" : ",\"holds\":false}");
}

}  // namespace

Exit run(const config::Config& config, const Options& options) {
  const Finding finding = audit(config, options);
  if (options.json) {
    fmt::print("{}\n", to_json(config, options, finding));
  } else {
    print(config, options, finding);
  }
  return finding.holds() ? Exit::done : Exit::internal;
}

}  // namespace nustream::audit
