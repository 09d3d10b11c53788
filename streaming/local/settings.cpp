// Reads [local] and what it needs of the other sections, and makes the digest by which user and collector recognise
// one mechanism (docs/formats/local.md).
#include "local/settings.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "config/json_pointer.h"
#include "config/read_sections.h"
#include "config/settings_tree.h"
#include "error.h"
#include "journal/running_hash.h"
#include "nustream/base/error.h"
#include "publish/json_writer.h"
#include "secrets/hex.h"

namespace nustream::local {
namespace {

using config::Section;
using inference::GlmFamily;
using inference::LocalCalibration;
using inference::LocalNorm;
using inference::LocalRepair;
using publish::JsonWriter;

GlmFamily read_family(const Section& model) {
  if (model.flag("intercept").value_or(false)) {
    model.refuse("intercept", "false: the local estimate has no constant; centre the features so that E x = 0");
  }
  return model.choice<GlmFamily>(
      "loss", GlmFamily::logistic,
      {{"logistic", GlmFamily::logistic}, {"poisson", GlmFamily::poisson}, {"linear", GlmFamily::linear}});
}

std::optional<double> read_bound(const Section& local, const char* key) {
  const std::optional<double> bound = local.number(key);
  const bool valid = !bound || (*bound > 0 && std::isfinite(*bound));
  if (!valid) local.refuse(key, "a finite number > 0");
  return bound;
}

/// A bound of the label. A logistic model's are 0 and 1 unless they are set.
double read_label(const Section& local, const char* key, std::optional<double> fallback) {
  const std::optional<double> value = local.number(key);
  if (!value && !fallback) local.missing(key);
  return value ? *value : *fallback;
}

/// The public bounds of a record. They are never measured, since a bound that depends on records would tell of them.
inference::LocalBounds read_bounds(const Section& local, GlmFamily family, std::size_t dimension) {
  using Fallback = std::optional<double>;
  inference::LocalBounds bounds;
  bounds.dimension = dimension;
  bounds.l1 = read_bound(local, "x_l1_max");
  bounds.l2 = read_bound(local, "x_l2_max");
  if (!bounds.l1 && !bounds.l2) local.missing("x_l1_max");
  bounds.label_lower = read_label(local, "label_min", family == GlmFamily::linear ? Fallback{} : Fallback{0});
  bounds.label_upper = read_label(local, "label_max", family == GlmFamily::logistic ? Fallback{1} : Fallback{});
  if (family == GlmFamily::logistic && (bounds.label_lower < 0 || bounds.label_upper > 1)) {
    local.refuse(bounds.label_lower < 0 ? "label_min" : "label_max", "0 to 1: logistic labels");
  }
  if (family == GlmFamily::poisson && bounds.label_lower < 0) local.refuse("label_min", "a number >= 0: counts");
  if (!(bounds.label_lower < bounds.label_upper)) local.refuse("label_max", "a number above label_min");
  // By default labels are reported about 0, or about the allowed label that is nearest to 0.
  const double nearest_to_none = std::clamp(0.0, bounds.label_lower, bounds.label_upper);
  bounds.label_centre = local.number("label_centre").value_or(nearest_to_none);
  const bool between = bounds.label_centre >= bounds.label_lower && bounds.label_centre <= bounds.label_upper;
  if (!between) local.refuse("label_centre", "a number from label_min to label_max");
  return bounds;
}

/// What a report may cost, and how its noise follows from that. A norm can be chosen only if it is bounded.
inference::LocalBudget read_budget(const Section& local, const inference::LocalBounds& bounds) {
  inference::LocalBudget budget{.epsilon = local.required<Epsilon>("epsilon"),
                                .delta = local.required<Delta>("delta")};
  if (budget.epsilon.value() == 0) local.refuse("epsilon", "a finite number > 0");
  budget.calibration =
      local.choice<LocalCalibration>("calibration", LocalCalibration::exact,
                                     {{"exact", LocalCalibration::exact}, {"paper", LocalCalibration::paper}});
  const bool paper = budget.calibration == LocalCalibration::paper;
  // The l2 bound gives the smaller displacement where it is set: its radius is min(r₂, r).
  const LocalNorm usual = paper ? LocalNorm::paper : bounds.l2 ? LocalNorm::l2 : LocalNorm::l1;
  budget.norm = local.choice<LocalNorm>("sensitivity", usual,
                                        {{"l1", LocalNorm::l1}, {"l2", LocalNorm::l2}, {"paper", LocalNorm::paper}});
  if (budget.norm == LocalNorm::l2 && !bounds.l2) local.refuse("sensitivity", "l2 together with x_l2_max");
  if (budget.norm != LocalNorm::l2 && !bounds.l1) {
    local.refuse(paper ? "calibration" : "sensitivity", "l1 and paper together with x_l1_max");
  }
  if (paper && budget.norm != LocalNorm::paper)
    local.refuse("sensitivity", "paper (or unset) for the paper's constants");
  if (paper && local.has("split"))
    local.refuse("split", "left out for the paper's constants, which give each part half");
  budget.split = local.number("split").value_or(0.5);
  const bool divides = budget.split > 0 && budget.split < 1;
  if (!divides) local.refuse("split", "0 < split < 1");
  return budget;
}

inference::LocalSolverSettings read_solver(const Section& local, GlmFamily family) {
  inference::LocalSolverSettings solver;
  solver.family = family;
  solver.repair = local.choice<LocalRepair>(
      "repair", LocalRepair::ridge,
      {{"ridge", LocalRepair::ridge}, {"pseudo-inverse", LocalRepair::pseudo_inverse}, {"none", LocalRepair::none}});
  solver.ridge = local.number("ridge").value_or(0);
  const bool valid = solver.ridge >= 0 && std::isfinite(solver.ridge);
  if (!valid) local.refuse("ridge", "a finite number >= 0");
  return solver;
}

std::string read_folder(const Section& local, const char* key, const std::string& fallback) {
  std::string folder = local.text(key).value_or(fallback);
  if (folder.empty()) local.refuse(key, "a folder's path");
  return folder;
}

/// Refuses what makes no sense in local privacy.
void check_schema(const Section& root, const Settings& settings) {
  if (settings.schema.features.empty()) root.missing("features");
  if (!settings.schema.target) root.missing("target.column");
  const record::Feature& target = *settings.schema.target;
  const bool own_units = settings.solver.family != GlmFamily::linear;
  if (own_units && (target.center != 0 || target.scale != 1)) {
    root.section("target").refuse("center",
                                  "neither center nor scale for this loss: its target has units of its own");
  }
  if (!settings.input.time_column.empty()) root.section("stream").refuse("time", "unset: nothing here goes by time");
}

/// Writes infinities as texts, because JSON has no number for them.
void append_real(publish::MemberName key, double value, JsonWriter& json) {
  std::isfinite(value) ? json.field(key, value) : json.field(key, value > 0 ? "inf" : "-inf");
}

void append_term(publish::MemberName key, const record::Term& term, JsonWriter& json) {
  const auto object = json.object(key);
  json.field("column", term.column);
  append_real("transform", static_cast<double>(term.transform), json);
  json.field("equals", term.equals);
  for (const std::string& label : term.labels) json.field("label", label);
  if (term.unit != record::TimeUnit::none) append_real("unit", static_cast<double>(term.unit), json);
  if (term.transform == record::Transform::bucket) {
    append_real("buckets", term.buckets, json);
    append_real("bucket", term.bucket, json);
  }
  if (term.transform == record::Transform::bin) {
    append_real("from", term.from, json);
    append_real("below", term.below, json);
  }
}

void append_feature(const record::Feature& feature, JsonWriter& json) {
  json.field("name", feature.name);
  append_term("first", feature.first, json);
  if (feature.second) append_term("second", *feature.second, json);
  append_real("center", feature.center, json);
  append_real("scale", feature.scale, json);
  append_real("lower", feature.lower, json);
  append_real("upper", feature.upper, json);
}

void append_schema(const record::Schema& schema, JsonWriter& json) {
  {
    const auto features = json.array("features");
    for (const record::Feature& feature : schema.features) {
      const auto object = json.object();
      append_feature(feature, json);
    }
  }
  const auto target = json.object("target");
  append_feature(schema.target.value_or(record::Feature{}), json);
}

/// The canonical text of the mechanism. No number in it is the result of a computation, which two machines could
/// round differently.
std::string canonical(const Settings& settings) {
  return publish::object_text([&](JsonWriter& json) {
    json.field("format", "nustream local mechanism 1");
    // The stream belongs to the mechanism, so that a report of one stream is none of another.
    json.field("stream", settings.stream);
    append_schema(settings.schema, json);
    if (settings.bounds.l1) append_real("x_l1_max", *settings.bounds.l1, json);
    if (settings.bounds.l2) append_real("x_l2_max", *settings.bounds.l2, json);
    append_real("label_min", settings.bounds.label_lower, json);
    append_real("label_max", settings.bounds.label_upper, json);
    append_real("label_centre", settings.bounds.label_centre, json);
    append_real("epsilon", settings.budget.epsilon.value(), json);
    append_real("delta", settings.budget.delta.value(), json);
    json.field("calibration", name(settings.budget.calibration));
    json.field("sensitivity", name(settings.budget.norm));
    append_real("split", settings.budget.split, json);
  });
}

}  // namespace

const char* name(LocalCalibration calibration) noexcept {
  return calibration == LocalCalibration::paper ? "paper" : "exact";
}

const char* name(LocalNorm norm) noexcept {
  switch (norm) {
    case LocalNorm::l1:
      return "l1";
    case LocalNorm::l2:
      return "l2";
    case LocalNorm::paper:
      return "paper";
  }
  __builtin_unreachable();
}

Settings read_settings(const std::string& file, const std::vector<std::string>& overrides) {
  const config::SettingsTree tree(file, overrides);
  const Section& root = tree.root();
  root.allow(config::section_names());
  const Section stream = root.section("stream");
  const Section local = root.section("local");
  const std::string name = config::read_name(stream);
  const GlmFamily family = read_family(root.section("model"));
  config::TwoStageColumns two_stage;
  const record::Schema schema = config::read_schema(root, two_stage);
  if (two_stage.instruments + two_stage.endogenous > 0) {
    root.refuse("instruments", "no instruments: reports in local privacy have one stage");
  }
  for (const char* const key : {"weight", "exposure"}) {
    if (!root.has(key)) continue;
    throw Failure(Exit::configuration,
                  fmt::format("{}: [{}]: reports in local privacy all count alike, since their noise "
                              "is drawn before anybody weighs them: leave it out",
                              file, key));
  }
  const inference::LocalBounds bounds = read_bounds(local, family, std::max<std::size_t>(1, schema.dimension()));
  const std::string public_rows = local.text("public_rows").value_or("");
  Settings settings{.file = file,
                    .stream = name,
                    .input = config::read_input(stream, file),
                    .schema = schema,
                    .bounds = bounds,
                    .budget = read_budget(local, bounds),
                    .record_key = local.text("record_key").value_or(""),
                    .reports_directory = read_folder(local, "reports_directory", "runs/" + name + "-reports"),
                    .directory = read_folder(local, "directory", "runs/" + name + "-sums"),
                    .public_rows = public_rows.empty() ? "" : config::beside(file, public_rows),
                    .solver = read_solver(local, family),
                    .commit_reports = local.count("commit_reports").value_or(std::uint64_t{1} << 16),
                    .commit_seconds = local.number("commit_seconds").value_or(1.0),
                    .kafka = config::read_kafka(root, name, /*of_user=*/false)};
  if (settings.input.skip_lines > 0)
    stream.refuse("skip_lines", "none where records become reports of local privacy");
  if (!settings.input.comment.empty()) stream.refuse("comment", "none where records become reports of local privacy");
  if (settings.commit_reports == 0) local.refuse("commit_reports", "a whole number > 0");
  if (!(settings.commit_seconds > 0)) local.refuse("commit_seconds", "a number > 0");
  check_schema(root, settings);
  config::check_pointers(root, settings.input);
  config::check_columns(stream, settings.input, settings.schema, settings.record_key);
  root.finish();
  try {
    // Whatever the mechanism itself refuses is refused here, with the key's place in the file.
    static_cast<void>(inference::LocalMechanism(settings.bounds, settings.budget));
  } catch (const InvalidParameter& error) {
    local.refuse(error.name(), error.allowed());
  }
  return settings;
}

inference::LocalMechanism make_mechanism(const Settings& settings) {
  return {settings.bounds, settings.budget};
}

std::string mechanism_digest(const Settings& settings) {
  return secrets::to_hex(journal::hash_of(canonical(settings)));
}

}  // namespace nustream::local
