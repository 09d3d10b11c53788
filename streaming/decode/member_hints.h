// Finds, for a member that no record has, the one that was probably meant. What it says is read from the data: it is
// for the operator alone.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/input.h"

namespace nustream::decode {

/// Hints over the members of some records, which are JSON pointers. `pointers` has to outlive it.
class MemberHints {
 public:
  /// `taken` are columns that are there: none of them is the one that another column means.
  MemberHints(const std::set<std::string>& pointers, config::Envelope envelope, std::vector<std::string> taken);

  /// What is added behind a column that is missing, such as " (did you mean 'X'?)"; "" where no member is near it.
  /// Looks in this order: the same name inside other members, those least deep first; a name or pointer that differs
  /// in what the eye does not see; a last name that does; the nearest by edits. For a pointer the second comes first.
  [[nodiscard]] std::string on_column(const std::string& column) const;

  /// Whether the members are those of a Debezium envelope whose row has the column, which is a plain name, while no
  /// envelope is set.
  [[nodiscard]] bool is_in_row(const std::string& column) const;

 private:
  [[nodiscard]] std::string in_settings(const std::string& pointer) const;
  [[nodiscard]] std::string as_asked(const std::string& column, const std::string& pointer) const;
  [[nodiscard]] bool is_container(const std::string& pointer) const;
  [[nodiscard]] bool is_candidate(const std::string& pointer) const;
  [[nodiscard]] std::string differing_unseen(const std::string& column) const;
  [[nodiscard]] std::string of_the_same_name(const std::string& column) const;
  [[nodiscard]] std::vector<std::string> where_last_name(const std::string& column, bool is_exact) const;
  [[nodiscard]] std::vector<std::string> by_edits(const std::string& column) const;

  const std::set<std::string>& pointers_;
  config::Envelope envelope_;
  std::vector<std::string> taken_;
  std::vector<std::string> candidates_;  ///< those that hold no other members, least deep first
};

/// Whether the pointer has names with bytes that are no characters: U+FFFD stands for each of them.
[[nodiscard]] bool holds_stand_in(const std::string& pointer);
/// The JSON pointer to a member of the top level.
[[nodiscard]] std::string pointer_to(std::string_view name);
/// The column as a pointer: a plain name is a member of the top level.
[[nodiscard]] std::string as_pointer(const std::string& column);
/// How a setting names the member: by its plain name for a member of the top level, or of an envelope's row where
/// there is an envelope, and by its pointer for any other.
[[nodiscard]] std::string named(const std::string& pointer, config::Envelope envelope);

}  // namespace nustream::decode
