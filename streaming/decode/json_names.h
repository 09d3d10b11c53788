// Which members the records of an input have, and which of those that are wanted none of them has. It is read from
// the data: for the operator alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/input.h"
#include "nustream/record/schema.h"

namespace nustream::decode {

/// The names of members that the first records have, as JSON pointers; a few hundred of them at most.
class MemberNames {
 public:
  static constexpr std::uint64_t records_max = 100;

  /// One record of JSON, until there are records_max; what is no object has no members.
  void add(std::string_view record);
  [[nodiscard]] bool is_full() const noexcept { return records_ >= records_max; }

  /// "in none of the first 100 records: 'Horspower' (did you mean 'Horsepower'?), 'x' (write '/user/x': …)": of all
  /// `columns` at once, each with the name that was probably meant; "" where each of them is in a record, or no
  /// record is an object. Columns that stand beside a message's value are nobody's members.
  [[nodiscard]] std::string missing(const std::vector<std::string>& columns, config::Envelope envelope) const;
  /// "'a', 'b', '/user/x'": those that are there, some thirty of them.
  [[nodiscard]] std::string listed(config::Envelope envelope) const;

 private:
  [[nodiscard]] bool has(const std::string& column, config::Envelope envelope) const;
  [[nodiscard]] std::string meant_by(const std::string& column, config::Envelope envelope) const;

  std::set<std::string> pointers_;
  std::uint64_t records_ = 0;
};

/// The JSON pointer to a member of the top level.
[[nodiscard]] std::string pointer_to(std::string_view name);

/// All columns that a record is asked for, each once.
[[nodiscard]] std::vector<std::string> wanted_columns(const config::InputSettings& settings,
                                                      const record::Schema& schema);

/// Of the first records of the input's first file, where that is JSON lines and can be read twice; else of none.
[[nodiscard]] MemberNames first_members(const config::InputSettings& settings);
/// MemberNames::missing() of those.
[[nodiscard]] std::string missing_members(const config::InputSettings& settings, const record::Schema& schema);

}  // namespace nustream::decode
