#include "publish/solved_instruments.h"

#include <string_view>

#include "publish/json_text.h"

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

void append_instruments(const moments::Release& release, const SolvedInstruments& design, std::string& out) {
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
  append_instruments(shown, out);
}

void append_instruments(const ShownInstruments& shown, std::string& out) {
  out += ",\"instruments\":{";
  std::string first;
  if (shown.effective_f.empty()) {
    first = ",\"effective_f\":null";
  } else {
    append_object("effective_f", shown.effective_f, first);
  }
  out += std::string_view(first).substr(1);
  out += ",\"anderson_rubin\":";
  if (shown.set_kind.empty()) {
    out += "null}";
    return;
  }
  out += "{\"level\":";
  append_number(shown.level, out);
  append_field("kind", shown.set_kind, out);
  if (shown.set_kind == "interval" || shown.set_kind == "outside") {
    append_field("lower", shown.lower, out);
    append_field("upper", shown.upper, out);
  }
  out += "}}";
}

}  // namespace nustream::publish
