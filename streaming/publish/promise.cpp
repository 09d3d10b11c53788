// The words and members in which every public record says what a spend is about: whose data, under
// which neighbours and limits.
#include "publish/promise.h"

#include <fmt/format.h>

namespace nustream::publish {

/// The period stands in the form of ISO 8601, as the settings have it: " within P30D".
std::string within_words(const users::Limits& limits) {
  if (!limits.windows()) return {};
  return " within " + users::text_of(limits.windows()->period) +
         (limits.windows()->times_are_trusted ? " of trusted times" : "");
}

/// For example: at most 10 contributions, 4 steps apart, of mass 8.
std::string words_of(const users::Limits& limits) {
  std::string words;
  if (const auto& participation = limits.participation()) {
    words = fmt::format("at most {} contribution{}", participation->times(), participation->times() == 1 ? "" : "s");
    // A separation of one step forbids nothing, and a single contribution has nothing to be apart from.
    if (participation->times() > 1 && participation->separation() > 1) {
      words += fmt::format(", {} steps apart", participation->separation());
    }
  }
  if (limits.mass()) words += fmt::format("{}of mass {:g}", words.empty() ? "" : ", ", limits.mass()->value());
  return words;
}

void append_neighbours(const Promise& promise, JsonWriter& json) {
  if (!promise.adjacency.empty()) json.field("adjacency", promise.adjacency);
  if (promise.user) {
    json.field("protects", "user");
    json.field("user", promise.user->column);
    append_limits(promise.user->limits, json);
  }
  // The settings do not allow both: a promise is about users or about targets.
  if (promise.target_only) json.field("protects", "target");
  if (promise.trusts_framing) json.field("framing", "trusted");
}

void append_promise(const Promise& promise, JsonWriter& json) {
  append_neighbours(promise, json);
  json.field("private", promise.is_private);
}

std::string estimand_words(const users::Limits& limits) {
  return "the model of the contributions that the limits of a user let in (" + words_of(limits) +
         within_words(limits) + ")";
}

}  // namespace nustream::publish
