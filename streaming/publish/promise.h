// What a spend protects, as every public record that shows a spend says it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nustream/users/limits.h"
#include "publish/json_writer.h"

namespace nustream::publish {

/// The unit of a promise about users.
struct PromisedUser {
  std::string column;    ///< the column in which records name their user
  users::Limits limits;  ///< what one user may do

  friend bool operator==(const PromisedUser&, const PromisedUser&) = default;
};

struct Promise {
  bool is_private = true;
  bool target_only = false;            ///< features are declared public; the promise is about a record's target alone
  std::string adjacency = "zero-out";  ///< privacy::name(); empty where an older record does not say it
  std::optional<PromisedUser> user{};  ///< empty where the unit is a record
  /// It holds only as long as no record has a quotation mark that is never closed (stream.framing = "trusted").
  bool trusts_framing = false;

  friend bool operator==(const Promise&, const Promise&) = default;
};

/// Writes `"participations":10,"separation":4,"mass":8`, as far as there are such limits. Where they hold within
/// windows, `"period":"P30D","times":"append"` or "trusted" follows.
inline void append_limits(const users::Limits& limits, JsonWriter& json) {
  if (const auto& participation = limits.participation()) {
    json.field("participations", participation->times());
    json.field("separation", participation->separation());
  }
  if (limits.mass()) json.field("mass", limits.mass()->value());
  if (const auto& windows = limits.windows()) {
    json.field("period", users::text_of(windows->period));
    json.field("times", windows->times_are_trusted ? "trusted" : "append");
  }
}
/// " within P30D" for limits that hold within windows, and " within P30D of trusted times" where the settings vouch
/// for the times; empty for limits that hold for ever.
[[nodiscard]] std::string within_words(const users::Limits& limits);
/// The limits in words: "at most 10 contributions, 4 steps apart, of mass 8".
[[nodiscard]] std::string words_of(const users::Limits& limits);
/// Writes `"adjacency":"zero-out","protects":"target"`. "protects" is left out for whole records; for users it is
/// `"protects":"user","user":"COLUMN"` with their limits. Where the framing is trusted, `"framing":"trusted"`
/// follows.
void append_neighbours(const Promise& promise, JsonWriter& json);
/// Writes the same and `"private":true`.
void append_promise(const Promise& promise, JsonWriter& json);

/// A sentence without a full stop: which records the estimate is of, under the limits of users.
[[nodiscard]] std::string estimand_words(const users::Limits& limits);

}  // namespace nustream::publish
