// Finds out which members the records of an input have, and which wanted members none of them has. What it finds is
// read from the data: it is for the operator alone.
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

class MemberHints;

/// The names of the members of the first records as JSON pointers, at most a few hundred.
class MemberNames {
 public:
  static constexpr std::uint64_t records_max = 100;

  /// Adds one record of JSON, until there are records_max. A record that is not an object has no members.
  void add(std::string_view record);
  [[nodiscard]] bool is_full() const noexcept { return records_ >= records_max; }

  /// Says which of `columns` no record has, each with the name that was probably meant: "in none of the first 100
  /// records: 'Horspower' (did you mean 'Horsepower'?), 'x' (it is inside …)". Empty where each column is in some
  /// record, or no record is an object. Where most records are changes of a database's rows, it says which envelope
  /// to set, also where some record has each column. Columns that come beside a message's value are not members, and
  /// are not looked for.
  [[nodiscard]] std::string missing(const std::vector<std::string>& columns, config::Envelope envelope) const;
  /// Up to some thirty of the members that were found, such as "'a', 'b', '/user/x'".
  [[nodiscard]] std::string listed(config::Envelope envelope) const;

 private:
  [[nodiscard]] bool has(const std::string& column, config::Envelope envelope) const;
  [[nodiscard]] std::string envelope_to_set(const std::vector<std::string>& columns, const MemberHints& hints) const;

  std::set<std::string> pointers_;
  std::uint64_t records_ = 0;
  std::uint64_t changes_ = 0;  ///< those of them that look like changes of a database's rows
};

/// All columns that a record is read by, each once.
[[nodiscard]] std::vector<std::string> wanted_columns(const config::InputSettings& settings,
                                                      const record::Schema& schema);

/// The members of the first records of the input's first file, where its records have members and it can be read
/// twice; else none.
[[nodiscard]] MemberNames first_members(const config::InputSettings& settings);
/// MemberNames::missing() of first_members().
[[nodiscard]] std::string missing_members(const config::InputSettings& settings, const record::Schema& schema);

}  // namespace nustream::decode
