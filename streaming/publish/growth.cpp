// Scales of columns that have grown, in releases and in sentences for people. Factors and counts are functions of
// noisy sums and cost nothing beyond them.
#include "publish/growth.h"

#include <fmt/format.h>
#include <simdjson.h>

namespace nustream::publish {
namespace {

void append_one(double factor, std::uint64_t times, JsonWriter& json) {
  json.field("factor", factor);
  json.field("times", times);
}

}  // namespace

void append_growth(const std::vector<moments::GrownInput>& grown, const std::vector<std::string>& names,
                   JsonWriter& json) {
  // A release whose stages can grow has the object even where it is empty: nothing grew is an answer, too.
  const auto all = json.object("grown");
  for (const moments::GrownInput& each : grown) {
    const auto one = json.object(names[each.input]);
    append_one(each.factor, each.times, json);
  }
}

void append_growth(const std::vector<ShownGrowth>& grown, JsonWriter& json) {
  // To a reader, a line without the member and one with an empty object are the same.
  if (grown.empty()) return;
  const auto all = json.object("grown");
  for (const ShownGrowth& each : grown) {
    const auto one = json.object(each.column);
    append_one(each.factor, each.times, json);
  }
}

std::vector<ShownGrowth> growth_in(const simdjson::dom::element& moments) {
  std::vector<ShownGrowth> all;
  simdjson::dom::object object;
  if (moments["grown"].get(object) != simdjson::SUCCESS) return all;
  for (const auto field : object) {
    // A column that lacks one of its two numbers is left out: the other one alone would mislead.
    ShownGrowth one{std::string(field.key)};
    const bool is_whole = field.value["factor"].get(one.factor) == simdjson::SUCCESS &&
                          field.value["times"].get(one.times) == simdjson::SUCCESS;
    if (is_whole) all.push_back(std::move(one));
  }
  return all;
}

std::string in_words(const std::vector<ShownGrowth>& grown) {
  std::string words;
  for (const ShownGrowth& each : grown) {
    words += fmt::format("{}{} ({:g} times, at {} stage{})", words.empty() ? "" : ", ", each.column, each.factor,
                         each.times, each.times == 1 ? "" : "s");
  }
  return words;
}

}  // namespace nustream::publish
