// Findings as a table for people and as JSON. Each form begins by saying that it is not private.
#include "check/findings.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "check/label_texts.h"
#include "config/ranges.h"
#include "config/unicode.h"
#include "decode/json_members.h"
#include "publish/json_writer.h"

namespace nustream::check {
namespace {

constexpr double far_off = 10;  // in working units; step sizes and clip norms are made for rows of size 1

/// The settings that a run measures first, and what is therefore not shown.
std::string measured_first(const Findings& findings) {
  std::string keys;
  for (const std::string& key : findings.to_measure) keys += (keys.empty() ? "" : ", ") + key;
  keys += findings.to_measure.size() == 1 ? ": it is \"private\", and a run measures it first"
                                          : ": they are \"private\", and a run measures them first";
  if (findings.clips_are_known) return keys + "; nothing here depends on them";
  const bool any_of_column = std::ranges::any_of(findings.to_measure, [](const std::string& key) {
    return key.starts_with("features.") || key.starts_with("target.");
  });
  return keys + ", so that what would be clipped is not known yet" +
         (any_of_column ? ", nor what depends on a measured center, scale or clamp" : "");
}

/// How many records would not count because the limits of their users are used up.
void print_used_up(const Findings& findings, std::FILE* out) {
  const Tally& tally = findings.tally;
  if (tally.used_up == 0) return;
  const std::uint64_t usable = tally.records - tally.rejected;
  fmt::print(out, "{:<16}{}{} of the usable records ({}) would count for nothing: {}\n", "used up",
             with_separators(tally.used_up), findings.users == users_max ? " or more" : "",
             percent(tally.used_up, usable), used_up_advice(tally));
}

/// What is said of the input as a whole, where there is anything to say.
void print_input(const Findings& findings, std::FILE* out) {
  const auto print = [out](const char* name, const std::string& text) {
    if (!text.empty()) fmt::print(out, "{:<16}{}\n", name, text);
  };
  print("line breaks", findings.long_record);
  print("missing", findings.missing);
  if (!findings.missing.empty()) print("", "they have " + findings.present);
  print("times", findings.times);
  for (const std::string& each : findings.foreign) print("encoding", each);
  print("files", findings.files);
}

/// Counts of records, and why some cannot be used.
void print_head(const Findings& findings, std::FILE* out) {
  const Tally& tally = findings.tally;
  const std::uint64_t usable = tally.records - tally.rejected;
  fmt::print(out, "{:<16}{} of {}\n", "records", with_separators(tally.records), findings.source);
  if (!findings.no_step.empty()) fmt::print(out, "{:<16}{}\n", "steps", findings.no_step);
  fmt::print(out, "{:<16}{} ({})\n", "usable", with_separators(usable), percent(usable, tally.records));
  if (findings.users) {
    fmt::print(out, "{:<16}{}{} different\n", "users", with_separators(*findings.users),
               *findings.users == users_max ? " or more" : "");
  }
  print_used_up(findings, out);
  for (const auto& [reason, refused] : tally.reasons) {
    const auto example = findings.examples.find(reason);
    fmt::print(out, "{:<16}{} ({}): {}; record {} is one{}\n", "unusable", with_separators(refused.count),
               percent(refused.count, tally.records), reason, refused.first.value(),
               example == findings.examples.end() ? "" : " (" + example->second + ")");
  }
  print_input(findings, out);
  if (!findings.to_measure.empty()) fmt::print(out, "{:<16}{}\n", "measured first", measured_first(findings));
  // Without a step size, say, clips can be counted; without a clip norm they cannot.
  if (!findings.clips_are_known || tally.gradients == 0) return;
  fmt::print(out, "{:<16}{} of {} {} ({}) at {}, where a run begins\n", "clipped", with_separators(tally.clipped),
             with_separators(tally.gradients),
             tally.of_users  ? "contributions of users"
             : tally.of_sums ? "residuals"
                             : "gradients",
             percent(tally.clipped, tally.gradients), findings.start);
}

/// "'no' 36,548 times, 'yes' 4,640 times".
std::string texts_of(const std::vector<std::pair<std::string, std::uint64_t>>& labels) {
  std::string texts;
  for (const auto& [text, count] : labels) {
    texts += fmt::format("{}'{}' {} times", texts.empty() ? "" : ", ", config::with_all_escaped(text),
                         with_separators(count));
  }
  return texts;
}

void print_labels(const Findings& findings, std::FILE* out) {
  if (!findings.taken_labels.empty()) fmt::print(out, "{:<16}{}\n", "labels", texts_of(findings.taken_labels));
  if (findings.classes_without_records > 0) {
    fmt::print(out, "{:<16}{} of the model's classes never occur\n", "", findings.classes_without_records);
  }
  if (findings.refused_labels.empty()) return;
  fmt::print(out, "{:<16}{}\n", "refused labels", texts_of(findings.refused_labels));
  if (!findings.label_setting.empty()) {
    fmt::print(out, "{:<16}name the classes, class 0 first: {}\n", "", findings.label_setting);
  } else if (!findings.label_fault.empty()) {
    fmt::print(out, "{:<16}{}\n", "", findings.label_fault);
  } else {
    fmt::print(out, "{:<16}name the classes in model.labels, class 0 first: those that are to be told apart\n", "");
  }
}

/// One line of the table: the settings, and beside them what the values are, in original units.
void print_column(const std::string& name, const ColumnFinding& column, std::size_t width, std::FILE* out) {
  const ColumnProfile& profile = column.profile;
  // A setting that a run measures first has no number yet.
  const auto setting = [](double value, bool is_measured) {
    return is_measured ? std::string(config::private_value) : fmt::format("{:.4g}", value);
  };
  fmt::print(out, "{:<{}}{:>11}{:>11} |{:>11.4g}{:>11.4g}{:>11.4g}{:>11.4g}{:>11.4g}{:>11.4g}{:>11.4g}\n", name,
             width, setting(column.center, column.center_is_measured),
             setting(column.scale, column.scale_is_measured), profile.smallest(), profile.quantile(0.05),
             profile.quantile(0.5), profile.quantile(0.95), profile.largest(), profile.mean(),
             profile.standard_deviation());
}

/// What a column is, for advice.
enum class Role { feature, target, target_with_units };

/// What to do about a column that lies far from 0.
const char* cure_of_distance(Role role) {
  switch (role) {
    case Role::target:
      return "give the target a center and a scale";
    case Role::target_with_units:
      return "the loss takes the target as it is, without center or scale: descent.clip_norm has to fit it";
    case Role::feature:
      break;
  }
  return "give it a center and a scale that fit";
}

/// Prints what is odd about a column's place in working units.
void print_remarks_on_place(const std::string& name, const ColumnFinding& column, Role role, std::FILE* out) {
  const ColumnProfile& profile = column.profile;
  // The outer 5% on each side are left out, since a few far values are no reason to choose another scale.
  const double reach =
      std::max(std::abs(column.working(profile.quantile(0.05))), std::abs(column.working(profile.quantile(0.95))));
  const double spread = profile.standard_deviation() / column.scale;
  if (reach > far_off) {
    fmt::print(out, "  {}: 5% of it lies {:.3g} working units or more from 0: {}\n", name, reach,
               cure_of_distance(role));
  } else if (profile.count() > 1 && spread > 0 && spread < 1 / far_off && role == Role::feature) {
    fmt::print(out, "  {}: it varies by {:.3g} working units alone: its scale is too large to be learned soon\n",
               name, spread);
  }
}

/// Prints what is odd about a column, each remark in a line of its own.
void print_remarks(const std::string& name, const ColumnFinding& column, Role role, std::FILE* out) {
  const ColumnProfile& profile = column.profile;
  // Working units are known only where neither centre nor scale is yet to be measured.
  if (column.is_placed()) print_remarks_on_place(name, column, role, out);
  if (profile.count() > 1 && profile.standard_deviation() == 0)
    fmt::print(out, "  {}: it is the same number in every record\n", name);
  if (column.at_bounds > 0) {
    fmt::print(out, "  {}: {} of its values ({}) lie on a bound of its clamp\n", name,
               with_separators(column.at_bounds), percent(column.at_bounds, profile.count()));
  }
  if (column.never) fmt::print(out, "  {}: the text '{}' never occurs\n", name, *column.never);
}

/// The amounts that say how much a record counts, each with the name that it is shown by.
std::vector<std::pair<std::string, const ColumnFinding*>> amounts_of(const Findings& findings) {
  std::vector<std::pair<std::string, const ColumnFinding*>> amounts;
  if (findings.weight) amounts.emplace_back(findings.weight->name + " (weight)", &*findings.weight);
  if (findings.exposure) amounts.emplace_back(findings.exposure->name + " (exposure)", &*findings.exposure);
  return amounts;
}

void print_remarks_of_amount(const std::string& name, const ColumnFinding& column, std::FILE* out) {
  const ColumnProfile& profile = column.profile;
  if (name.ends_with(" (weight)") && profile.largest() <= 0) {
    fmt::print(out, "  {}: it is 0 in every record: no record counts, and what is released is noise alone\n", name);
  }
  if (column.at_bounds > 0) {
    fmt::print(out, "  {}: {} of its values ({}) are at its max; larger ones count as the max\n", name,
               with_separators(column.at_bounds), percent(column.at_bounds, profile.count()));
  }
}

void print_columns(const Findings& findings, std::FILE* out) {
  std::size_t width = 18;
  for (const ColumnFinding& column : findings.columns) width = std::max(width, column.name.size() + 2);
  if (findings.target) width = std::max(width, findings.target->name.size() + 11);
  for (const auto& [name, column] : amounts_of(findings)) width = std::max(width, name.size() + 2);
  fmt::print(out, "\n{:<{}}{:>11}{:>11} |{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}\n", "column", width, "center",
             "scale", "smallest", "5%", "median", "95%", "largest", "mean", "std. dev.");
  for (const ColumnFinding& column : findings.columns) print_column(column.name, column, width, out);
  if (findings.target) print_column(findings.target->name + " (target)", *findings.target, width, out);
  for (const auto& [name, column] : amounts_of(findings)) print_column(name, *column, width, out);
  for (const ColumnFinding& column : findings.columns) print_remarks(column.name, column, Role::feature, out);
  const Role of_target = findings.target_has_units ? Role::target_with_units : Role::target;
  if (findings.target) print_remarks(findings.target->name, *findings.target, of_target, out);
  for (const auto& [name, column] : amounts_of(findings)) print_remarks_of_amount(name, *column, out);
  const ColumnProfile* const first = findings.columns.empty() ? nullptr : &findings.columns.front().profile;
  if (first != nullptr && !first->is_exact()) {
    fmt::print(out, "(quantiles of a sample of {} records)\n", with_separators(ColumnProfile::sample_max));
  }
}

/// Figures that depend on a setting which is yet to be measured are left out.
void append_column(const ColumnFinding& column, publish::JsonWriter& json) {
  const ColumnProfile& profile = column.profile;
  json.field("name", column.name);
  if (!column.center_is_measured) json.field("center", column.center);
  if (!column.scale_is_measured) json.field("scale", column.scale);
  json.field("count", profile.count());
  json.field("smallest", profile.smallest());
  json.field("q05", profile.quantile(0.05));
  json.field("q25", profile.quantile(0.25));
  json.field("median", profile.quantile(0.5));
  json.field("q75", profile.quantile(0.75));
  json.field("q95", profile.quantile(0.95));
  json.field("largest", profile.largest());
  json.field("mean", profile.mean());
  json.field("standard_deviation", profile.standard_deviation());
  json.field("exact", profile.is_exact());
  if (!column.clamp_is_measured) json.field("at_bounds", column.at_bounds);
  if (column.never) json.field("never", *column.never);
}

void append_columns(const Findings& findings, publish::JsonWriter& json) {
  {
    const auto columns = json.array("columns");
    for (const ColumnFinding& column : findings.columns) {
      const auto object = json.object();
      append_column(column, json);
    }
  }
  const auto append_role = [&](publish::MemberName role, const std::optional<ColumnFinding>& column) {
    if (!column) return;
    const auto object = json.object(role);
    append_column(*column, json);
  };
  append_role("target", findings.target);
  append_role("weight", findings.weight);
  append_role("exposure", findings.exposure);
}

void append_reasons(const Findings& findings, publish::JsonWriter& json) {
  const auto reasons = json.array("reasons");
  for (const auto& [reason, refused] : findings.tally.reasons) {
    const auto object = json.object();
    json.field("reason", reason);
    json.field("count", refused.count);
    json.field("record", refused.first.value());
    const auto example = findings.examples.find(reason);
    if (example != findings.examples.end()) json.field("example", decode::as_utf8(example->second));
  }
}

void append_labels(publish::MemberName name, const std::vector<std::pair<std::string, std::uint64_t>>& labels,
                   publish::JsonWriter& json) {
  const auto array = json.array(name);
  for (const auto& [text, count] : labels) {
    const auto object = json.object();
    json.field("text", decode::as_utf8(text));
    json.field("count", count);
  }
}

}  // namespace

bool clips_are_known(const config::Config& config) {
  return std::ranges::all_of(config.measuring.keys,
                             [](const std::string& key) { return key == "descent.step_size" || key == "noise.nu"; });
}

void print(const Findings& findings, std::FILE* out) {
  fmt::print(out, "\n{}\n\n", not_private);
  print_head(findings, out);
  print_labels(findings, out);
  if (findings.refused_others > 0) {
    fmt::print(out, "{:<16}{} records have labels beyond the first {} different ones\n", "",
               with_separators(findings.refused_others), LabelTexts::texts_max);
  }
  if (findings.tally.rejected < findings.tally.records) print_columns(findings, out);
}

std::string to_json(const Findings& findings) {
  const Tally& tally = findings.tally;
  return publish::object_text([&](publish::JsonWriter& json) {
    json.field("private", false);
    json.field("note", not_private);
    json.field("source", decode::as_utf8(findings.source));
    json.field("records", tally.records);
    json.field("usable", tally.records - tally.rejected);
    if (findings.users) json.field("users", *findings.users);
    if (!findings.no_step.empty()) json.field("no_step", findings.no_step);
    if (findings.is_used_up_known) json.field("used_up", tally.used_up);
    append_reasons(findings, json);
    if (!findings.missing.empty()) {
      json.field("missing", decode::as_utf8(findings.missing));
      json.field("present", decode::as_utf8(findings.present));
    }
    if (!findings.times.empty()) json.field("times", findings.times);
    if (!findings.foreign.empty()) json.elements("encoding", findings.foreign);
    if (!findings.files.empty()) json.field("files", decode::as_utf8(findings.files));
    if (!findings.long_record.empty()) json.field("line_breaks", findings.long_record);
    if (!findings.to_measure.empty()) {
      json.elements("measured_first", findings.to_measure);
      json.field("measured_note", measured_first(findings));
    }
    if (findings.clips_are_known) {
      json.field("start", findings.start);
      json.field("gradients", tally.gradients);
      json.field("clipped", tally.clipped);
    }
    append_labels("labels", findings.taken_labels, json);
    append_labels("refused_labels", findings.refused_labels, json);
    json.field("classes_without_records", findings.classes_without_records);
    if (!findings.label_setting.empty()) json.field("label_setting", findings.label_setting);
    if (!findings.label_fault.empty()) json.field("label_fault", findings.label_fault);
    append_columns(findings, json);
  });
}

}  // namespace nustream::check
