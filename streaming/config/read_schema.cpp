// Reads which columns become which numbers of a row: [[features]], [[instruments]], [[endogenous]] and [target]. One
// entry of the file may give several features (one_hot, hash, bins).
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "config/read_sections.h"

namespace nustream::config {
namespace {

using record::Feature;
using record::Term;
using record::Transform;

/// Reads one of the transforms that a settings file can name. Other transforms come from keys of
/// their own, such as one_hot. `product` is the name of another choice, where a feature may be one.
Transform read_transform(const Section& section, std::string_view key, std::string_view product) {
  return section.choice<Transform>(key, Transform::identity,
                                   {{"identity", Transform::identity},
                                    {"log", Transform::log},
                                    {"log1p", Transform::log1p},
                                    {"sqrt", Transform::sqrt},
                                    {"square", Transform::square},
                                    {"indicator", Transform::indicator},
                                    {"hour", Transform::hour},
                                    {"day_of_week", Transform::day_of_week}},
                                   product);
}

/// The default name of a term: the way one would write it.
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
    case Transform::other:
      return term.column + "=other";
    case Transform::bucket:
      return fmt::format("{}#{}", term.column, term.bucket);
    case Transform::bin:
      return fmt::format("{}[{},{})", term.column, term.from, term.below);
    case Transform::label:
    case Transform::custom:
      return term.column;
  }
  return term.column;
}

/// Whether the transform reads a time, for which alone a unit has a meaning.
bool reads_time(Transform transform) {
  return transform == Transform::hour || transform == Transform::day_of_week;
}

/// Reads what is done with the transformed value: it is clamped, then centred and scaled. All of these are settings,
/// so that the map is the same for every record.
void read_placement(const Section& section, Feature& feature) {
  feature.center = section.number("center").value_or(0);
  if (const auto scale = section.number("scale")) {
    if (!(*scale > 0)) section.refuse("scale", "a finite number > 0");
    feature.scale = *scale;
  }
  constexpr const char* two = "[lower, upper] with lower < upper";
  const std::vector<double> clamp = section.number_or_numbers("clamp", two);  // one side may be infinite
  if (section.has("clamp")) {
    if (clamp.size() != 2 || !(clamp[0] < clamp[1])) section.refuse("clamp", two);
    feature.lower = clamp[0];
    feature.upper = clamp[1];
  }
}

constexpr std::string_view interaction = "interaction";

/// Reads the term of a section. `product` is the transform that has been looked for before, where there is one.
Term read_term(const Section& section, std::string_view product) {
  Term term{section.text_or_refuse("column"), read_transform(section, "transform", product),
            section.text("equals").value_or("")};
  // An empty text may be what the indicator compares with, so that the key is asked for and not the text.
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

/// Reads transform = "interaction": the product of two terms, of = [{column, transform}, {column, transform}].
bool read_interaction(const Section& section, Feature& feature) {
  if (section.text("transform") != interaction) return false;
  const std::vector<Section> terms = section.tables("of");
  if (terms.size() != 2) section.refuse("of", "two terms, [{column = \"a\"}, {column = \"b\", transform = \"log\"}]");
  feature.first = read_term(terms[0]);
  feature.second = read_term(terms[1]);
  return true;
}

/// Reads a feature of one term, or of the product of two.
Feature read_feature(const Section& section) {
  Feature feature;
  if (!read_interaction(section, feature)) feature.first = read_term(section, interaction);
  const std::string given = section.text("name").value_or("");
  // For example "price*log(area)" for an interaction without a name.
  feature.name = !given.empty()   ? given
                 : feature.second ? name_of(feature.first) + "*" + name_of(*feature.second)
                                  : name_of(feature.first);
  read_placement(section, feature);
  return feature;
}

/// Makes the features of one column that are 0 or 1. Only their terms differ.
std::vector<Feature> indicators_of(const Section& section, const char* key, const std::vector<Term>& terms) {
  // These belong to a term, and here the map makes the terms.
  for (const char* const beside : {"transform", "equals", "of", "unit"}) {
    if (section.has(beside)) section.refuse(beside, fmt::format("nothing beside {}, which is a map of its own", key));
  }
  const std::string column = section.text_or_refuse("column");
  const std::string name = section.text("name").value_or(column);
  std::vector<Feature> features;
  for (const Term& term : terms) {
    Feature& feature = features.emplace_back();
    feature.first = term;
    // The name of a feature is made of the term. For a moment the term therefore has the settings'
    // name as its column.
    feature.first.column = name;
    feature.name = name_of(feature.first);
    feature.first.column = column;
    read_placement(section, feature);
  }
  return features;
}

/// Whether numbers or texts outside the list have a feature, too.
bool with_other(const Section& section) {
  return section.flag("other").value_or(false);
}

/// Reads one_hot = ["a", "b"]: a feature for each text of a public list, which is 1 where the column is that text,
/// else 0. A text that is not in the list gives zeros. With other = true such texts have a feature of their own.
std::vector<Feature> read_one_hot(const Section& section) {
  const std::vector<std::string> texts = section.texts("one_hot");
  if (texts.empty()) section.refuse("one_hot", "the texts of the column, [\"a\", \"b\"]");
  if (std::set<std::string>(texts.begin(), texts.end()).size() != texts.size()) {
    section.refuse("one_hot", "each text once");
  }
  std::vector<Term> terms;
  // For one_hot = ["a", "b"] of the column "c" the features are called c=a and c=b.
  for (const std::string& text : texts) terms.push_back({{}, Transform::indicator, text});
  if (with_other(section)) terms.push_back({{}, Transform::other, {}, texts});
  return indicators_of(section, "one_hot", terms);
}

/// Reads hash = m: a feature for each of m buckets, which is 1 where the column's text falls into the bucket. It is
/// for columns without a public list of texts; texts that share a bucket share a coefficient.
std::vector<Feature> read_hash(const Section& section) {
  constexpr std::uint64_t most = 4096;
  const std::uint64_t buckets = section.count("hash").value_or(0);
  // With one bucket every record would have the same number.
  if (buckets < 2 || buckets > most) section.refuse("hash", fmt::format("a number of buckets from 2 to {}", most));
  if (section.has("other")) section.refuse("other", "nothing beside hash: every text falls into one of its buckets");
  std::vector<Term> terms;
  for (std::uint32_t bucket = 0; bucket < buckets; ++bucket) {
    Term& term = terms.emplace_back();
    term.transform = Transform::bucket;
    term.buckets = static_cast<std::uint32_t>(buckets);
    term.bucket = bucket;
  }
  return indicators_of(section, "hash", terms);
}

/// Reads bins = [a, b, c]: a feature for [a, b) and one for [b, c), which are 1 where the column's number lies in
/// them. Numbers outside give zeros. With other = true they have features of their own, one on either side.
std::vector<Feature> read_bins(const Section& section) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr const char* rising = "two or more numbers that rise, such as [0, 18, 65, inf]";
  std::vector<double> edges = section.number_or_numbers("bins", rising);
  // Edges that are equal would make a bin that holds no number.
  const bool rises = std::adjacent_find(edges.begin(), edges.end(), std::greater_equal<>()) == edges.end();
  if (edges.size() < 2 || !rises) section.refuse("bins", rising);
  if (with_other(section)) {
    // The two sides become bins like the others, down to −∞ and up to +∞.
    if (edges.front() != -infinity) edges.insert(edges.begin(), -infinity);
    if (edges.back() != infinity) edges.push_back(infinity);
  }
  std::vector<Term> terms;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    Term& term = terms.emplace_back();
    term.transform = Transform::bin;
    term.from = edges[i];
    term.below = edges[i + 1];
  }
  // For bins = [0, 18, 65] of the column "age" the features are called age[0,18) and age[18,65).
  return indicators_of(section, "bins", terms);
}

/// Reads one entry of the file. At most one of the keys that make several features may be there.
std::vector<Feature> read_features(const Section& section) {
  const int maps = section.has("one_hot") + section.has("hash") + section.has("bins");
  if (maps > 1) section.refuse(section.has("bins") ? "bins" : "hash", "one of one_hot, hash and bins");
  if (section.has("one_hot")) return read_one_hot(section);
  if (section.has("hash")) return read_hash(section);
  if (section.has("bins")) return read_bins(section);
  if (section.has("other")) section.refuse("other", "only with one_hot or bins");
  return {read_feature(section)};
}

}  // namespace

Term read_term(const Section& section) {
  return read_term(section, {});
}

std::optional<record::TimeUnit> read_time_unit(const Section& section, std::string_view key) {
  using record::TimeUnit;
  if (!section.has(key)) return std::nullopt;
  return section.choice<TimeUnit>(
      key, TimeUnit::seconds,
      {{"s", TimeUnit::seconds}, {"ms", TimeUnit::milliseconds}, {"us", TimeUnit::microseconds}});
}

namespace {

/// Refuses the key from which a feature has a name that another one has: `taken` says where that one stands.
[[noreturn]] void refuse_name(const Section& section, const std::string& name, const std::string& taken) {
  const std::string is_taken = fmt::format("'{}' is taken by {}", name, taken);
  for (const char* const key : {"name", "one_hot", "hash", "bins", "of", "column"}) {
    if (!section.has(key)) continue;
    const bool is_name = std::string_view(key) == "name";
    section.refuse(key, is_name ? fmt::format("a name that no other feature has ({})", is_taken)
                                : fmt::format("a feature whose name no other one has ({}); set name", is_taken));
  }
  section.missing("name");
}

}  // namespace

record::Schema read_schema(const Section& root, TwoStageColumns& columns) {
  record::Schema schema;
  // A release shows the intercept under this name, so that no feature may have it.
  std::map<std::string, std::string> names{{"intercept", "the model's constant"}};
  const auto append = [&](const char* key) {
    const std::size_t before = schema.features.size();
    for (const Section& section : root.tables(key)) {
      for (Feature& feature : read_features(section)) {
        const auto [named, is_new] = names.try_emplace(feature.name, section.place());
        if (!is_new) refuse_name(section, feature.name, named->second);
        schema.features.push_back(std::move(feature));
      }
    }
    return schema.features.size() - before;
  };
  // The order is that of a row: features that are controls, then instruments, then endogenous regressors.
  append("features");
  columns.instruments = append("instruments");
  columns.endogenous = append("endogenous");
  const Section target = root.section("target");
  if (root.has("target")) schema.target = read_feature(target);
  return schema;
}

}  // namespace nustream::config
