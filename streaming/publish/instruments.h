// What a release says about a model with instrumental variables. A release of running sums has the two-stage least
// squares solution, how strong the instruments are, and a set that holds whatever their strength is. A release of a
// descent has the strength of its first stage, a function of charged second moments.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nustream/inference/first_stage.h"
#include "nustream/lane/lane.h"
#include "nustream/moments/lane.h"
#include "nustream/noise/correlation.h"
#include "nustream/record/schema.h"
#include "publish/json_writer.h"

namespace nustream::publish {

/// Public settings that such a release is shown with.
struct SolvedInstruments {
  std::vector<std::string> regressors;  ///< names of the endogenous regressors
  std::size_t inputs;                   ///< number of controls and instruments
  double unit;                          ///< of the first regressor's effect: the target's scale over its own
  double level;                         ///< of the Anderson-Rubin set
};

/// [β, Π] in the order of OriginalUnits: the second stage, and then each regressor's first stage. Empty where the
/// release has no answer.
[[nodiscard]] std::vector<double> parameters_of(const moments::Release& release, const SolvedInstruments& design);

/// Writes "instruments":{"residual_variance":…,"effective_f":{…} or null,"anderson_rubin":{…} or null}
/// (docs/formats/releases.md). Below an F of 10 the estimate's distribution is far from normal, and only the set
/// should be quoted.
void append_instruments(const moments::Release& release, const SolvedInstruments& design, JsonWriter& json);

/// What a release says about its instruments, as a reader sees it.
struct ShownInstruments {
  std::vector<std::pair<std::string, double>> effective_f;  ///< by regressor; empty where V is not known
  /// Whether residuals are taken to vary as much as their bounds allow: F is then too small, and the set too wide.
  bool is_bounded = false;
  /// Kind of the Anderson-Rubin set; empty where there is none.
  std::string set_kind;
  double level = 0;
  double lower = 0;  ///< for the kinds "interval" and "outside"
  double upper = 0;
};
/// A first stage with a smaller F is weak: the estimate's distribution is far from normal.
inline constexpr double weak_effective_f = 10;

/// Says in words what the set is, such as "-8.8 to -3.8", and what to think of it where it is no interval. Empty
/// where there is none.
[[nodiscard]] std::string set_in_words(const ShownInstruments& shown);

/// Writes "instruments":{…}, with the same text as in the release.
void append_instruments(const ShownInstruments& shown, JsonWriter& json);

/// How the second moments were made. All of it is public.
struct StrengthDesign {
  descent::TwoStageShape shape;
  std::vector<std::string> regressors;  ///< names of the endogenous regressors
  noise::Correlation correlation;
  NoiseStddev stddev;  ///< σΔ of the stage of second moments
  std::uint64_t minibatch;
  std::optional<std::uint64_t> records;  ///< number of distinct records, where records take part several times
};

/// The strength of the first stage. Empty while there are no more records than instruments, and where noise hides the
/// second moments.
[[nodiscard]] std::optional<inference::FirstStageStrength> strength_of(const StrengthDesign& design,
                                                                       const lane::Release& release);

}  // namespace nustream::publish
