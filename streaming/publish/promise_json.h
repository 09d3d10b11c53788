// Reads back from this program's own records what a spend protects.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>

#include "nustream/base/error.h"
#include "publish/limits_json.h"
#include "publish/promise.h"

namespace nustream::publish {

/// The text of a member; empty where there is none, or no text.
[[nodiscard]] inline std::string_view text_or_nothing(const simdjson::dom::element& record, std::string_view key) {
  std::string_view text;
  return record[key].get(text) == simdjson::SUCCESS ? text : std::string_view();
}

/// The users whom the promise is about. Empty where its unit is the record, or where limits are missing or out of
/// range.
[[nodiscard]] inline std::optional<PromisedUser> user_in(const simdjson::dom::element& record) try {
  if (text_or_nothing(record, "protects") != "user") return std::nullopt;
  const auto limits = limits_in(record);
  if (!limits) return std::nullopt;
  return PromisedUser{std::string(text_or_nothing(record, "user")), *limits};
} catch (const InvalidParameter&) {
  return std::nullopt;
} catch (const simdjson::simdjson_error&) {
  return std::nullopt;
}

/// Reads what append_neighbours() writes, for a release and for a combined model alike.
inline void read_neighbours(const simdjson::dom::element& record, Promise& promise) {
  promise.target_only = text_or_nothing(record, "protects") == "target";
  promise.trusts_framing = text_or_nothing(record, "framing") == "trusted";
  promise.user = user_in(record);
  promise.adjacency = text_or_nothing(record, "adjacency");
}

}  // namespace nustream::publish
