// What the readers of the journal's own JSON lines share, in ledger and account. This header is for sources of this
// room alone. A field that is missing or of another type throws a simdjson_error, which the reader of the line puts
// into words.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "journal/ledger_chain.h"
#include "nustream/base/units.h"
#include "nustream/privacy/participation.h"

namespace nustream::journal {

using Object = simdjson::dom::element;

[[nodiscard]] inline std::string text_in(const Object& object, std::string_view field) {
  return std::string(object[field].get_string().value());
}

[[nodiscard]] inline std::uint64_t count_in(const Object& object, std::string_view field) {
  return object[field].get_uint64();
}

[[nodiscard]] inline std::uint32_t small_count_in(const Object& object, std::string_view field) {
  const std::uint64_t value = count_in(object, field);
  if (value > std::numeric_limits<std::uint32_t>::max())
    throw simdjson::simdjson_error(simdjson::NUMBER_OUT_OF_RANGE);
  return static_cast<std::uint32_t>(value);
}

[[nodiscard]] inline Rho rho_of(const Object& value) {
  const double rho = value.get_double();
  if (!(rho >= 0)) throw simdjson::simdjson_error(simdjson::NUMBER_OUT_OF_RANGE);
  return Rho{rho};
}

[[nodiscard]] inline Rho rho_in(const Object& object, std::string_view field) {
  return rho_of(object[field].value());
}

[[nodiscard]] inline bool has_field(const Object& object, std::string_view field) {
  return object[field].error() == simdjson::SUCCESS;
}

/// The neighbours that the fields `adjacency` and `protects` name; nothing where this version does not know them.
[[nodiscard]] inline std::optional<privacy::Neighbours> neighbours_in(const Object& object) {
  const std::string adjacency = text_in(object, "adjacency");
  const std::string protects = text_in(object, "protects");
  for (const privacy::Adjacency known : {privacy::Adjacency::zero_out, privacy::Adjacency::replace_one}) {
    if (adjacency == privacy::name(known) && (protects == "record" || protects == "target" || protects == "user")) {
      return privacy::Neighbours{known, protects == "target", protects == "user"};
    }
  }
  return std::nullopt;
}

/// Throws the Failure of a ledger whose lines are not those that were written. `what` goes on from "the ledger", as
/// in "has a line that is no line of a ledger".
[[noreturn]] void not_genuine(const std::string& what);

/// The entry of a line; nothing for a rotation's line. Throws Failure(data) where it is no line of a ledger.
[[nodiscard]] std::optional<LedgerEntry> entry_of(std::string_view line);

}  // namespace nustream::journal
