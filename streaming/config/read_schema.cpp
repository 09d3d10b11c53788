#include <set>
#include <utility>

#include "config/read_sections.h"

namespace nustream::config {
namespace {

using record::Feature;
using record::Term;
using record::Transform;

Transform read_transform(const Section& section, std::string_view key) {
  return section.choice<Transform>(key, Transform::identity,
                                   {{"identity", Transform::identity},
                                    {"log", Transform::log},
                                    {"log1p", Transform::log1p},
                                    {"sqrt", Transform::sqrt},
                                    {"square", Transform::square},
                                    {"indicator", Transform::indicator},
                                    {"hour", Transform::hour},
                                    {"day_of_week", Transform::day_of_week}});
}

/// How a term is called where the user gives no name: as one would write it.
std::string name_of(const Term& term) {
  switch (term.transform) {
    case Transform::identity:
      return term.column;
    case Transform::log:
      return "log(" + term.column + ")";
    case Transform::log1p:
      return "log1p(" + term.column + ")";
    case Transform::sqrt:
      return "sqrt(" + term.column + ")";
    case Transform::square:
      return term.column + "^2";
    case Transform::indicator:
      return term.column + "=" + term.equals;
    case Transform::hour:
      return "hour(" + term.column + ")";
    case Transform::day_of_week:
      return "day_of_week(" + term.column + ")";
    case Transform::label:
    case Transform::custom:
      return term.column;
  }
  return term.column;
}

bool reads_time(Transform transform) {
  return transform == Transform::hour || transform == Transform::day_of_week;
}

Term read_term(const Section& section) {
  Term term{section.text_or_refuse("column"), read_transform(section, "transform"),
            section.text("equals").value_or("")};
  if (term.transform == Transform::indicator && !section.has("equals")) section.missing("equals");
  if (term.transform != Transform::indicator && section.has("equals")) {
    section.refuse("equals", "only with transform = \"indicator\"");
  }
  if (const auto unit = read_time_unit(section, "unit")) {
    if (!reads_time(term.transform)) section.refuse("unit", "only with transform = \"hour\" or \"day_of_week\"");
    term.unit = *unit;
  }
  return term;
}

void read_placement(const Section& section, Feature& feature) {
  feature.center = section.number("center").value_or(0);
  if (const auto scale = section.number("scale")) {
    if (!(*scale > 0)) section.refuse("scale", "a finite number > 0");
    feature.scale = *scale;
  }
  const std::vector<double> clamp = section.numbers("clamp");
  if (section.has("clamp")) {
    if (clamp.size() != 2 || !(clamp[0] < clamp[1])) section.refuse("clamp", "[lower, upper] with lower < upper");
    feature.lower = clamp[0];
    feature.upper = clamp[1];
  }
}

/// transform = "interaction": the product of two terms, of = [{column, transform}, {column, transform}].
bool read_interaction(const Section& section, Feature& feature) {
  if (section.text("transform") != "interaction") return false;
  const std::vector<Section> terms = section.tables("of");
  if (terms.size() != 2) section.refuse("of", "two terms, [{column = \"a\"}, {column = \"b\", transform = \"log\"}]");
  feature.first = read_term(terms[0]);
  feature.second = read_term(terms[1]);
  return true;
}

Feature read_feature(const Section& section) {
  Feature feature;
  if (!read_interaction(section, feature)) feature.first = read_term(section);
  const std::string given = section.text("name").value_or("");
  feature.name = !given.empty()   ? given
                 : feature.second ? name_of(feature.first) + "*" + name_of(*feature.second)
                                  : name_of(feature.first);
  read_placement(section, feature);
  return feature;
}

/// one_hot = ["a", "b"]: a feature for each text of a public list, 1 where the column is that text and else 0, so
/// that a text which is not in the list is zeros.
std::vector<Feature> read_one_hot(const Section& section) {
  const std::string column = section.text_or_refuse("column");
  for (const char* const other : {"transform", "equals", "of", "unit"}) {
    if (section.has(other)) section.refuse(other, "nothing beside one_hot, which is a map of its own");
  }
  const std::vector<std::string> texts = section.texts("one_hot");
  if (texts.empty()) section.refuse("one_hot", "the texts of the column, [\"a\", \"b\"]");
  if (std::set<std::string>(texts.begin(), texts.end()).size() != texts.size()) {
    section.refuse("one_hot", "each text once");
  }
  const std::string name = section.text("name").value_or(column);
  std::vector<Feature> features;
  for (const std::string& text : texts) {
    Feature& feature = features.emplace_back();
    feature.first = {column, Transform::indicator, text};
    feature.name = name + "=" + text;
    read_placement(section, feature);
  }
  return features;
}

std::vector<Feature> read_features(const Section& section) {
  if (section.has("one_hot")) return read_one_hot(section);
  return {read_feature(section)};
}

}  // namespace

std::optional<record::TimeUnit> read_time_unit(const Section& section, std::string_view key) {
  using record::TimeUnit;
  if (!section.has(key)) return std::nullopt;
  return section.choice<TimeUnit>(
      key, TimeUnit::seconds,
      {{"s", TimeUnit::seconds}, {"ms", TimeUnit::milliseconds}, {"us", TimeUnit::microseconds}});
}

record::Schema read_schema(const Section& root, TwoStageColumns& columns) {
  record::Schema schema;
  std::set<std::string> names{"intercept"};
  const auto append = [&](const char* key) {
    const std::size_t before = schema.features.size();
    for (const Section& section : root.tables(key)) {
      for (Feature& feature : read_features(section)) {
        if (!names.insert(feature.name).second) {
          section.refuse("name", "a name that no other feature has ('" + feature.name + "' is taken)");
        }
        schema.features.push_back(std::move(feature));
      }
    }
    return schema.features.size() - before;
  };
  append("features");
  columns.instruments = append("instruments");
  columns.endogenous = append("endogenous");
  const Section target = root.section("target");
  if (root.has("target")) schema.target = read_feature(target);
  return schema;
}

}  // namespace nustream::config
