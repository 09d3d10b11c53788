#include "config/estimator_choice.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "config/mechanism.h"
#include "config/public_scale.h"
#include "nustream/base/error.h"
#include "nustream/moments/expected_error.h"

namespace nustream::config {
namespace {

moments::Problem problem_of(const Config& config, const moments::Settled& settled) {
  // With running sums a batch of records is a step. With a descent a record is a step, and a release comes after so
  // many.
  const std::uint64_t every = config.moments ? config.descent.minibatch : config.descent.release_every;
  const bool ends = config.moments && config.moments->releases;
  return {guess_of(config), config.problem.records, rho_asked(config.privacy), config.privacy.adjacency, every, ends,
          settled};
}

std::string two_digits(const char* key, double value) {
  return fmt::format("{}={:.2g}", key, value);
}

Candidate of_descent(const moments::Problem& problem, bool average) {
  const moments::DescentChoice choice = moments::best_descent(problem, average);
  Candidate candidate{average ? "the average" : "the last iterate", choice.error, {}};
  candidate.settings = {"model.estimator=descent", two_digits("descent.step_size", choice.step_size.value()),
                        two_digits("descent.clip_norm", choice.clip.value()),
                        two_digits("noise.nu", choice.nu.value())};
  if (average) {
    candidate.settings.push_back("descent.average=tail");
    candidate.settings.push_back(fmt::format("descent.average_from={}", choice.from));
  }
  return candidate;
}

std::optional<Candidate> of_sums(const moments::Problem& problem, bool recentred) {
  const auto choice = moments::best_sums(problem, recentred);
  if (!choice) return std::nullopt;
  Candidate candidate{recentred ? "running sums, recentred" : "running sums", choice->error, {}};
  candidate.settings = {"model.estimator=moments", two_digits("moments.row_norm", choice->radii.inputs),
                        two_digits("moments.residual_bound", choice->radii.target)};
  if (choice->second) {
    candidate.settings.push_back(fmt::format("moments.stages=[{{from={}, residual_bound={:.2g}}}]",
                                             choice->second->first * problem.every, choice->second->radii.target));
    candidate.settings.push_back(two_digits("moments.residual_variance", choice->residual_variance));
  }
  return candidate;
}

std::string parts_of(const inference::ExpectedError& error) {
  return fmt::format("{:.3g} (start {:.2g}, sampling {:.2g}, privacy noise {:.2g})", error.root(),
                     std::sqrt(error.start), std::sqrt(error.sampling), std::sqrt(error.privacy));
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
    const bool unknown = scale.unknown.size() == config.schema.features.size();
    eigenvalues = unknown ? std::vector(config.schema.dimension(), 1.0) : std::move(scale.eigenvalues);
  }
  return {std::move(eigenvalues), *config.problem.residual, *config.problem.distance};
}

EstimatorChoice choose_estimator(const Config& config, const Open& open) {
  NUSTREAM_REQUIRE(has_guesses(config), "a choice is made from guesses");
  const moments::Problem problem = problem_of(config, open.settled);
  EstimatorChoice choice;
  for (const bool average : {false, true}) {
    if (average ? open.average : open.last) choice.candidates.push_back(of_descent(problem, average));
  }
  for (const bool recentred : {false, true}) {
    if (auto candidate = of_sums(problem, recentred)) choice.candidates.push_back(std::move(*candidate));
  }
  const auto by_total = [](const Candidate& each) { return each.error.total(); };
  const auto least = std::ranges::min_element(choice.candidates, {}, by_total);
  choice.least = static_cast<std::size_t>(least - choice.candidates.begin());
  std::string others;
  for (const Candidate& each : choice.candidates) {
    if (&each != &*least) others += fmt::format("; {} {}", each.name, parts_of(each.error));
  }
  choice.why = fmt::format("{} has the least expected error, {}{}", least->name, parts_of(least->error), others);
  return choice;
}

}  // namespace nustream::config
