// Reads [weight] and [exposure]: a column with one transform, and a public bound, which larger values count as.
#include <fmt/format.h>

#include "config/read_sections.h"

namespace nustream::config {
namespace {

using LossKind = model::Loss::Kind;

/// Reads the public bound of a section's column.
double read_most(const Section& section) {
  if (!section.has("max")) section.missing("max");
  const double most = section.number("max").value_or(0);
  if (!(most > 0)) section.refuse("max", "a finite number > 0: a public bound; larger values count as this bound");
  return most;
}

/// Requires that a weight is not made of the target, where the target alone is private: the weight of a record is one
/// of its features, which are public then.
void require_no_target(const Section& section, const record::Term& term, const Config& config) {
  if (config.privacy.protects != Protects::target || !config.schema.target) return;
  if (term.column != config.schema.target->first.column) return;
  section.refuse("column", "another column than the target's, which alone is private");
}

}  // namespace

void read_weights(const Section& root, Config& config) {
  const LossKind loss = config.descent.loss.kind;
  if (root.has("weight")) {
    const Section section = root.section("weight");
    if (loss == LossKind::mean) {
      root.refuse("weight", "nothing with loss = \"mean\", which counts every record alike");
    }
    config.schema.weight = {read_term(section), read_most(section)};
    require_no_target(section, config.schema.weight->term, config);
  }
  if (root.has("exposure")) {
    const Section section = root.section("exposure");
    if (loss != LossKind::poisson) root.refuse("exposure", "only with loss = \"poisson\", whose target is a count");
    config.schema.exposure = {read_term(section), section.flag("log").value_or(false), read_most(section)};
    require_no_target(section, config.schema.exposure->term, config);
  }
}

}  // namespace nustream::config
