#include "publish/solved_instruments.h"

#include <string_view>

namespace nustream::publish {
namespace {

std::string_view name(moments::AndersonRubinSet::Kind kind) {
  using Kind = moments::AndersonRubinSet::Kind;
  switch (kind) {
    case Kind::empty:
      return "empty";
    case Kind::interval:
      return "interval";
    case Kind::outside:
      return "outside";
    case Kind::everything:
      break;
  }
  return "everything";
}

}  // namespace

std::vector<double> parameters_of(const moments::Release& release, const SolvedInstruments& design) {
  if (!release.structural) return {};
  std::vector<double> parameters = release.structural->beta;
  const auto first_stage = static_cast<std::ptrdiff_t>(design.inputs * design.regressors.size());
  parameters.insert(parameters.end(), release.theta.begin(), release.theta.begin() + first_stage);
  return parameters;
}

void append_instruments(const moments::Release& release, const SolvedInstruments& design, JsonWriter& json) {
  using Kind = moments::AndersonRubinSet::Kind;
  ShownInstruments shown;
  if (release.structural) {
    for (std::size_t k = 0; k < release.structural->effective_f.size(); ++k) {
      shown.effective_f.emplace_back(design.regressors[k], release.structural->effective_f[k]);
    }
  }
  if (const auto& set = release.set) {
    shown.set_kind = name(set->kind);
    shown.level = design.level;
    const bool has_bounds = set->kind == Kind::interval || set->kind == Kind::outside;
    if (has_bounds) shown.lower = set->lower * design.unit, shown.upper = set->upper * design.unit;
  }
  append_instruments(shown, json);
}

void append_instruments(const ShownInstruments& shown, JsonWriter& json) {
  const auto object = json.object("instruments");
  json.fields_or_null("effective_f", shown.effective_f);
  if (shown.set_kind.empty()) return json.field("anderson_rubin", nullptr);
  const auto set = json.object("anderson_rubin");
  json.field("level", shown.level);
  json.field("kind", shown.set_kind);
  if (shown.set_kind == "interval" || shown.set_kind == "outside") {
    json.field("lower", shown.lower);
    json.field("upper", shown.upper);
  }
}

}  // namespace nustream::publish
