// Compares estimators by their expected errors and writes the settings of the best one. Everything is computed from
// [plan] and other public settings, so that the choice costs nothing.
#include "config/estimator_choice.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "config/mechanism.h"
#include "nustream/base/error.h"
#include "nustream/moments/expected_error.h"

namespace nustream::config {
namespace {

/// The problem as public guesses describe it: how large features, residuals and the way to go are,
/// and what may be spent.
moments::Problem problem_of(const Config& config, const moments::Settled& settled) {
  // With running sums, a step is a batch of records. With a descent, a step is a record, and a release comes after
  // release_every of them.
  const std::uint64_t every = config.moments ? config.descent.minibatch : config.descent.release_every;
  return {guess_of(config),
          config.problem.records,
          rho_asked(config.privacy),
          config.privacy.adjacency,
          every,
          config.problem.sums_end,
          settled};
}

/// A setting with two digits: a prediction is no better than that, and people can read and keep such numbers.
std::string two_digits(const char* key, double value) {
  return fmt::format("{}={:.2g}", key, value);
}

/// The best descent that quotes the average or the last iterate.
Candidate of_descent(const moments::Problem& problem, bool average) {
  const moments::DescentChoice choice = moments::best_descent(problem, average);
  Candidate candidate{average ? "the average" : "the last iterate", choice.error, {}, false};
  // As --set takes them, so that a person can try the choice or change it.
  candidate.settings = {"model.estimator=descent", two_digits("descent.step_size", choice.step_size.value()),
                        two_digits("descent.clip_norm", choice.clip.value()),
                        two_digits("noise.nu", choice.nu.value())};
  if (average) {
    candidate.settings.push_back("descent.average=tail");
    candidate.settings.push_back(fmt::format("descent.average_from={}", choice.from));
  }
  return candidate;
}

/// The best descent over a table whose steps take all rows.
Candidate of_table_descent(const moments::Problem& problem, const moments::TableSettled& settled) {
  const moments::TableDescentChoice choice = moments::best_table_descent(problem, settled);
  return {"the descent",
          choice.error,
          {"model.estimator=descent", fmt::format("estimate.steps={}", choice.steps.value()),
           two_digits("descent.step_size", choice.step_size.value()),
           two_digits("descent.clip_norm", choice.clip.value())},
          false};
}

/// The settings of running sums that are recentred at most by the stages which the caller adds.
std::vector<std::string> settings_of(const moments::SumsChoice& choice) {
  return {"model.estimator=moments", two_digits("moments.row_norm", choice.radii.inputs),
          two_digits("moments.residual_bound", choice.radii.target)};
}

/// Running sums with this number of recentrings; nothing where so many are not possible.
std::optional<Candidate> of_sums(const moments::Problem& problem, std::size_t recentrings) {
  static constexpr const char* names[] = {"running sums", "running sums, recentred", "running sums, recentred twice"};
  const auto choice = moments::best_sums(problem, recentrings);
  if (!choice) return std::nullopt;
  Candidate candidate{names[recentrings], choice->error, {}, true};
  candidate.settings = settings_of(*choice);
  // Only sums that are recentred weigh stages, so that only they need the guess of the residuals' variance.
  if (choice->later.empty()) return candidate;
  std::string stages;
  for (const moments::StageStart& each : choice->later) {
    // A stage's first step becomes its first record, as moments.stages counts.
    stages += fmt::format("{}{{from={}, residual_bound={:.2g}}}", stages.empty() ? "" : ", ",
                          each.first * problem.every, each.radii.target);
  }
  candidate.settings.push_back("moments.stages=[" + stages + "]");
  candidate.settings.push_back(two_digits("moments.residual_variance", choice->residual_variance));
  if (recentrings > 1) candidate.settings.push_back(two_digits("moments.second_moment_share", choice->second_share));
  return candidate;
}

/// Adds running sums without recentring, then with one and two, as far as they are possible and pay.
void add_sums(const moments::Problem& problem, std::vector<Candidate>& candidates) {
  for (std::size_t recentrings = 0; recentrings <= moments::most_recentrings; ++recentrings) {
    if (recentrings > 1 && !moments::second_recentring_pays(problem)) return;
    auto candidate = of_sums(problem, recentrings);
    // Where one recentring is not possible, two are not either.
    if (!candidate) return;
    candidates.push_back(std::move(*candidate));
  }
}

/// The expected error as a root mean square, and the roots of the parts that add up to its square.
std::string parts_of(const inference::ExpectedError& error) {
  return fmt::format("{:.3g} (start {:.2g}, sampling {:.2g}, privacy noise {:.2g})", error.root(),
                     std::sqrt(error.start), std::sqrt(error.sampling), std::sqrt(error.privacy));
}

/// Drops candidates whose expected error has no bound, so that placeholders of settings are never taken.
void keep_finite(std::vector<Candidate>& candidates) {
  std::erase_if(candidates, [](const Candidate& each) { return !std::isfinite(each.error.total()); });
  if (candidates.empty()) throw Unsupported("no estimator has a finite expected error under the guesses of [plan]");
}

std::size_t least_of(const std::vector<Candidate>& candidates) {
  const auto by_total = [](const Candidate& each) { return each.error.total(); };
  return static_cast<std::size_t>(std::ranges::min_element(candidates, {}, by_total) - candidates.begin());
}

/// The candidate to take: the least, or running sums whose error is within the factor that predictions are good for.
std::size_t taken_of(const EstimatorChoice& choice) {
  std::size_t taken = choice.least;
  if (choice.candidates[taken].are_sums) return taken;
  // Sums within this bound are as good as the best descent, as far as a prediction can tell. Among
  // several the least is taken.
  double bound = choice.candidates[taken].error.root() * near_tie;
  for (std::size_t i = 0; i < choice.candidates.size(); ++i) {
    const Candidate& each = choice.candidates[i];
    if (!each.are_sums || each.error.root() > bound) continue;
    taken = i;
    bound = each.error.root();
  }
  return taken;
}

/// The sentence about a table, which has no drift that would favour sums.
std::string why_taken_of_table(const EstimatorChoice& choice) {
  const Candidate& taken = choice.candidates[choice.taken];
  std::string why = fmt::format("{} {} the least expected error, {}", taken.name, taken.are_sums ? "have" : "has",
                                parts_of(taken.error));
  for (const Candidate& each : choice.candidates) {
    if (&each != &taken) why += fmt::format("; {} {}", each.name, parts_of(each.error));
  }
  return why;
}

/// The sentence that a plan shows, with the errors of all candidates, so that a person can judge
/// how close the choice was.
std::string why_taken(const EstimatorChoice& choice) {
  const Candidate& taken = choice.candidates[choice.taken];
  std::string why = fmt::format("{} has the least expected error, {}", taken.name, parts_of(taken.error));
  if (choice.taken != choice.least) {
    why = fmt::format(
        "{} is taken, since drift does not bias running sums; its expected error is within the factor {:g} of the "
        "least, and predictions are no more exact than that: {}",
        taken.name, near_tie, parts_of(taken.error));
  }
  for (const Candidate& each : choice.candidates) {
    if (&each != &taken) why += fmt::format("; {} {}", each.name, parts_of(each.error));
  }
  return why + "; all of this takes the stream for stationary";
}

}  // namespace

bool has_guesses(const Config& config) {
  const bool linear = config.descent.loss.kind == model::Loss::Kind::linear && !config.descent.first_stage;
  return linear && !config.users && config.problem.records > 1 && config.problem.residual &&
         config.problem.distance && config.privacy.protects == Protects::record;
}

inference::StreamGuess guess_of(const Config& config) {
  std::vector<double> eigenvalues = config.problem.eigenvalues;
  if (eigenvalues.empty()) {
    PublicScale scale = public_scale(config.schema);
    // If the settings tell no range at all, the guess is 1 for every number, the intercept included.
    const bool unknown = scale.unknown.size() == config.schema.features.size();
    eigenvalues = unknown ? std::vector(config.schema.dimension(), 1.0) : std::move(scale.eigenvalues);
    // Roundings may leave the least one at 0 or below it, where a range lies far from 0.
    const double least = 1e-12 * std::ranges::max(eigenvalues);
    for (double& value : eigenvalues) value = std::max(value, least);
  }
  return {std::move(eigenvalues), *config.problem.residual, *config.problem.distance};
}

EstimatorChoice choose_estimator(const Config& config, const Open& open) {
  NUSTREAM_REQUIRE(has_guesses(config), "a choice is made from guesses");
  const moments::Problem problem = problem_of(config, open.settled);
  EstimatorChoice choice;
  for (const bool average : {false, true}) {
    // descent.average = "tail" or "last" leaves one of the two descents.
    if (average ? open.average : open.last) choice.candidates.push_back(of_descent(problem, average));
  }
  add_sums(problem, choice.candidates);
  keep_finite(choice.candidates);
  choice.least = least_of(choice.candidates);
  choice.taken = taken_of(choice);
  choice.why = why_taken(choice);
  return choice;
}

EstimatorChoice choose_table_estimator(const Config& config, const Open& open) {
  NUSTREAM_REQUIRE(has_guesses(config), "a choice is made from guesses");
  const moments::Problem problem = problem_of(config, open.settled);
  const moments::SumsChoice sums = moments::best_table_sums(problem);
  EstimatorChoice choice;
  choice.candidates = {of_table_descent(problem, open.of_table), {"the sums", sums.error, settings_of(sums), true}};
  keep_finite(choice.candidates);
  choice.least = least_of(choice.candidates);
  choice.taken = choice.least;
  choice.why = why_taken_of_table(choice);
  return choice;
}

}  // namespace nustream::config
