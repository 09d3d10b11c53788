// Reads limits of users back from this program's own records.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nustream/base/error.h"
#include "nustream/users/limits.h"

namespace nustream::publish {

/// Reads an object with the fields of append_limits(); empty where it has neither limit. Throws InvalidParameter
/// where a limit is out of range, and simdjson_error where one is not a number.
[[nodiscard]] inline std::optional<users::Limits> limits_in(const simdjson::dom::element& object) {
  std::optional<privacy::Participation> participation;
  std::optional<Mass> mass;
  if (object["participations"].error() == simdjson::SUCCESS) {
    const std::uint64_t times = object["participations"].get_uint64();
    participation.emplace(times, object["separation"].get_uint64());
  }
  if (object["mass"].error() == simdjson::SUCCESS) mass = Mass{object["mass"].get_double()};
  if (!participation && !mass) return std::nullopt;
  std::optional<users::Windows> windows;
  if (object["period"].error() == simdjson::SUCCESS) {
    const std::string_view text = object["period"].get_string();
    const auto period = users::parse_period(text);
    if (!period) throw InvalidParameter("period", std::string(text), "an ISO 8601 duration");
    windows = users::Windows{*period, object["times"].get_string().value() == "trusted"};
  }
  return users::Limits(participation, mass, windows);
}

}  // namespace nustream::publish
