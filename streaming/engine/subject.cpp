// Builds one sentence of the settings' own names, for pages and reports. No data enter.
#include "engine/subject.h"

#include <vector>

#include "nustream/model/loss.h"

namespace nustream::engine {
namespace {

constexpr std::size_t named = 6;

/// At most `named` names, so that the sentence stays short.
/// "a", "a and b", "a, b and c", "a, b, c, d, e, f and 94 more".
std::string list_of(const std::vector<record::Feature>& features) {
  std::string text;
  const std::size_t shown = features.size() <= named ? features.size() : named;
  for (std::size_t j = 0; j < shown; ++j) {
    const bool last = j + 1 == features.size();
    if (j > 0) text += last ? " and " : ", ";
    text += features[j].name;
  }
  if (features.size() > named) text += " and " + std::to_string(features.size() - named) + " more";
  return text;
}

std::string method_of(model::Loss::Kind kind) {
  switch (kind) {
    case model::Loss::Kind::mean:
      return "Mean";
    case model::Loss::Kind::linear:
      return "Linear regression";
    case model::Loss::Kind::huber:
      return "Robust (Huber) regression";
    case model::Loss::Kind::logistic:
      return "Logistic regression";
    case model::Loss::Kind::poisson:
      return "Poisson regression";
    case model::Loss::Kind::quantile:
      return "Quantile regression";
    case model::Loss::Kind::multinomial:
      return "Multinomial logistic regression";
  }
  return "Regression";
}

}  // namespace

std::string subject_of(const config::Config& config) {
  const std::string features = list_of(config.schema.features);
  const std::string target = config.schema.target ? config.schema.target->name : std::string();
  // A mean has no target: the features themselves are what is estimated.
  if (config.descent.loss.kind == model::Loss::Kind::mean) return "Mean of " + features + ".";
  std::string text = config.descent.first_stage ? "Instrumental variables" : method_of(config.descent.loss.kind);
  if (!target.empty()) text += " of " + target;
  if (!features.empty()) text += " on " + features;
  if (config.schema.exposure) {
    text += (config.schema.exposure->is_log ? ", over exp of " : ", over ") + config.schema.exposure->term.column;
  }
  if (config.schema.weight) text += ", weighted by " + config.schema.weight->term.column;
  return text + ".";
}

}  // namespace nustream::engine
