// model.estimator = "auto": which estimator is taken, with which settings, and why; by public guesses alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "nustream/moments/choice.h"

namespace nustream::config {

/// One way to estimate, with the settings that are best for it and what is then expected.
struct Candidate {
  std::string name;                   ///< "the last iterate", "the average", "running sums", …
  inference::ExpectedError error;     ///< E (θ̂ − θ*)ᵀH(θ̂ − θ*), working units of the target
  std::vector<std::string> settings;  ///< "descent.step_size=0.0021", as --set takes them; two digits
};

struct EstimatorChoice {
  std::vector<Candidate> candidates;
  std::size_t least = 0;
  std::string why;  ///< in a sentence
};

/// Whether [plan] holds what a choice needs: records, residual, distance; and the model is one that both can have.
[[nodiscard]] bool has_guesses(const Config& config);

/// What [plan], clamps and transforms say of the stream. Contract: has_guesses().
[[nodiscard]] inference::StreamGuess guess_of(const Config& config);

/// What the settings leave to be chosen.
struct Open {
  moments::Settled settled{};
  bool last = true;     ///< the last iterate may be what is quoted
  bool average = true;  ///< a tail average may be
};

/// The four candidates for a linear model of the stream that the settings describe. Contract: has_guesses().
[[nodiscard]] EstimatorChoice choose_estimator(const Config& config, const Open& open);

/// Overrides behind `overrides` that say what model.estimator = "auto" comes to, and why; none where it is something
/// else. Keys that are set stay. Failure(configuration) where guesses are missing, or the model has no choice.
struct Resolved {
  std::vector<std::string> overrides;
  std::string why;
};
[[nodiscard]] Resolved resolve_estimator(const std::string& file, std::vector<std::string> overrides,
                                         Purpose purpose);

}  // namespace nustream::config
