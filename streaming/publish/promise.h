// What a spend is about, as every public record that shows one says it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "nustream/users/limits.h"
#include "publish/json_text.h"

namespace nustream::publish {

/// Of a promise whose unit is the user.
struct PromisedUser {
  std::string column;    ///< where records name it
  users::Limits limits;  ///< what one of them may do

  friend bool operator==(const PromisedUser&, const PromisedUser&) = default;
};

struct Promise {
  bool is_private = true;
  bool target_only = false;            ///< features are declared public: the promise is about a record's target alone
  std::string adjacency = "zero-out";  ///< privacy::name(); empty where an older record does not say it
  std::optional<PromisedUser> user{};  ///< empty where the unit is a record
  /// It holds only as long as no record has a quotation mark that is never closed (stream.framing = "trusted").
  bool trusts_framing = false;

  friend bool operator==(const Promise&, const Promise&) = default;
};

/// `,"participations":10,"separation":4,"mass":8`, of which those that there are; behind them, where they hold within
/// windows, `,"period":"P30D","times":"append"`, or "trusted".
inline void append_limits(const users::Limits& limits, std::string& out) {
  if (const auto& participation = limits.participation()) {
    append_field("participations", participation->times(), out);
    append_field("separation", participation->separation(), out);
  }
  if (limits.mass()) append_field("mass", limits.mass()->value(), out);
  if (const auto& windows = limits.windows()) {
    append_field("period", users::text_of(windows->period), out);
    append_field("times", windows->times_are_trusted ? std::string("trusted") : std::string("append"), out);
  }
}
/// " within P30D" of the unit of such limits, " within P30D of trusted times" where the settings vouch for the times;
/// nothing of limits that hold for ever.
[[nodiscard]] std::string within_words(const users::Limits& limits);
/// Both in words: "at most 10 contributions, 4 steps apart, of mass 8".
[[nodiscard]] std::string words_of(const users::Limits& limits);
/// `,"adjacency":"zero-out","protects":"target"`: "protects" is left out for whole records. Of users
/// `,"protects":"user","user":"COLUMN"` and their limits. Where it is trusted, `,"framing":"trusted"` stands behind.
void append_neighbours(const Promise& promise, std::string& out);
/// The same with `,"private":true` behind it.
void append_promise(const Promise& promise, std::string& out);

}  // namespace nustream::publish
