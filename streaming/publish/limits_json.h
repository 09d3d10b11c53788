// Limits of users as records of this program show them, read back.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nustream/base/error.h"
#include "nustream/users/limits.h"

namespace nustream::publish {

/// Of an object with the fields of append_limits(); empty where there is neither limit. Throws InvalidParameter where
/// one is out of range, simdjson_error where one is no number.
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
