// A schema has a feature for each text, bucket or bin. A plan shows the keys that made them, so that their features
// are put together again here.
#include "cli/plan_schema.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "config/transform_names.h"

namespace nustream::cli {
namespace {

using record::Feature;
using record::Transform;
using Features = std::span<const Feature>;

bool is_text(Transform transform) {
  return transform == Transform::indicator || transform == Transform::other;
}

/// Whether the key that made `last` has made the feature behind it, too.
bool is_of_one_key(const Feature& last, const Feature& next) {
  if (last.second || next.second || last.first.column != next.first.column) return false;
  const record::Term& a = last.first;
  const record::Term& b = next.first;
  // The feature of all other texts is the last one of its key, and bins follow each other without a gap.
  if (is_text(a.transform)) return a.transform == Transform::indicator && is_text(b.transform);
  if (a.transform != b.transform) return false;
  if (a.transform == Transform::bucket) return b.bucket == a.bucket + 1;
  return a.transform == Transform::bin && b.from == a.below;
}

/// How many of the first features one key has made; at least one.
std::size_t count_of_key(Features features) {
  std::size_t count = 1;
  while (count < features.size() && is_of_one_key(features[count - 1], features[count])) ++count;
  return count;
}

/// What makes them: "interaction", a transform, or a key such as one_hot.
const char* kind_of(Features of_key) {
  if (of_key.front().second) return "interaction";
  const Transform transform = of_key.front().first.transform;
  // The texts of one_hot are indicators, and `other` is a part of it.
  const bool is_one_hot = transform == Transform::other || (transform == Transform::indicator && of_key.size() > 1);
  return is_one_hot ? "one_hot" : config::name_of(transform);
}

void append_key(Features of_key, publish::JsonWriter& json) {
  const auto object = json.object();
  const std::string kind = kind_of(of_key);
  const Feature& first = of_key.front();
  json.field("kind", kind);
  if (first.second) {
    json.elements("columns", std::vector<std::string>{first.first.column, first.second->column});
  } else {
    json.field("column", first.first.column);
  }
  json.field("features", of_key.size());
  if (kind == "one_hot" || kind == "indicator") {
    std::vector<std::string> texts;
    for (const Feature& feature : of_key) {
      if (feature.first.transform == Transform::indicator) texts.push_back(feature.first.equals);
    }
    json.elements("texts", texts);
    json.field("other", of_key.back().first.transform == Transform::other);
  }
  if (kind == "bins") {
    std::vector<double> edges{first.first.from};
    for (const Feature& feature : of_key) edges.push_back(feature.first.below);
    json.elements("edges", edges);
  }
}

}  // namespace

void append_schema(const record::Schema& schema, publish::JsonWriter& json) {
  {
    const auto features = json.array("features");
    for (Features rest = schema.features; !rest.empty();) {
      const std::size_t count = count_of_key(rest);
      append_key(rest.first(count), json);
      rest = rest.subspan(count);
    }
  }
  if (schema.weight) {
    const auto weight = json.object("weight");
    json.field("column", schema.weight->term.column);
    json.field("max", schema.weight->most);
  }
  if (schema.exposure) {
    const auto exposure = json.object("exposure");
    json.field("column", schema.exposure->term.column);
    json.field("log", schema.exposure->is_log);
    json.field("max", schema.exposure->most);
  }
}

}  // namespace nustream::cli
