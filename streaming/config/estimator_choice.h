// model.estimator = "auto": chooses the estimator and its settings, and says why. The choice follows from public
// guesses alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "nustream/moments/choice.h"
#include "nustream/moments/table_choice.h"

namespace nustream::config {

// Guesses how large a row's numbers are from the settings alone. A plan uses the guess where no eigenvalues are set.
struct PublicScale {
  /// Eigenvalues of a guess of E[xxᵀ], one for each of the row's numbers. A feature with a known range is taken to be
  /// uniform on that range and independent of the others. A feature without one has size 1 about 0, and the intercept
  /// is 1.
  std::vector<double> eigenvalues;
  std::vector<std::string> unknown;  ///< features whose range the settings do not tell
};

/// Guesses from `clamp`, `transform`, `center` and `scale`; no record is looked at.
[[nodiscard]] PublicScale public_scale(const record::Schema& schema);

/// One way to estimate, with the settings that are best for it and the error that they lead to.
struct Candidate {
  std::string name;                   ///< "the last iterate", "the average", "running sums", …
  inference::ExpectedError error;     ///< E (θ̂ − θ*)ᵀH(θ̂ − θ*), in working units of the target
  std::vector<std::string> settings;  ///< with two digits, as --set takes them: "descent.step_size=0.0021"
  bool are_sums = false;              ///< running sums, not a descent
};

/// Predictions of the error are good for this factor (docs/results.md). Of two estimators whose errors are nearer to
/// each other, running sums are taken: they weigh all records alike, so drift does not bias them.
inline constexpr double near_tie = 1.3;

struct EstimatorChoice {
  std::vector<Candidate> candidates;
  std::size_t least = 0;  ///< the candidate of the least expected error
  std::size_t taken = 0;  ///< the candidate to take: the least, or running sums near it
  std::string why;        ///< the reason in a sentence
};

/// Whether [plan] holds what a choice needs (records, residual, distance) and the model is one that both a descent
/// and running sums can estimate.
[[nodiscard]] bool has_guesses(const Config& config);

/// The guess about the stream that [plan], clamps and transforms make. Contract: has_guesses().
[[nodiscard]] inference::StreamGuess guess_of(const Config& config);

/// What the settings leave open.
struct Open {
  moments::Settled settled{};
  bool last = true;     ///< the last iterate may be quoted
  bool average = true;  ///< a tail average may be quoted
  moments::TableSettled of_table{};
};

/// Computes the candidates for a linear model of the stream that the settings describe: descents, and running sums
/// that are recentred at most once, or twice where that promises less error at the same share of ρ for H. Contract:
/// has_guesses(). Throws InvalidParameter where the guesses are out of range, and Unsupported where no candidate has
/// a finite expected error.
[[nodiscard]] EstimatorChoice choose_estimator(const Config& config, const Open& open);

/// Computes the candidates for a linear model of a whole table of problem.records rows: a descent each of whose steps
/// takes all of them, and the sums, released once. Contract: has_guesses(). Throws as choose_estimator() does.
[[nodiscard]] EstimatorChoice choose_table_estimator(const Config& config, const Open& open);

/// The overrides, and the settings that model.estimator = "auto" adds to them, and why. Nothing is added where
/// model.estimator is not "auto", and keys that are set keep their values. Throws Failure(configuration) where
/// guesses are missing, or the model leaves no choice.
struct Resolved {
  std::vector<std::string> overrides;
  std::string why;
};
[[nodiscard]] Resolved resolve_estimator(const std::string& file, std::vector<std::string> overrides,
                                         Purpose purpose);

}  // namespace nustream::config
