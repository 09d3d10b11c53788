// Closes users, whose identifiers are given one a line: a closed user contributes to no step any more. This header
// also says whether a table holds a closed user, and has the words of the warning where closed users are forgotten.
#pragma once

#include <algorithm>
#include <cstdint>
#include <istream>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "error.h"
#include "nustream/users/changes.h"
#include "nustream/users/gate.h"
#include "nustream/users/placement.h"
#include "nustream/users/standings.h"
#include "users/user_key.h"

namespace nustream::users {

/// Whom the lines named that say which users are to be closed.
struct NamedUsers {
  std::uint64_t users = 0;    ///< different ones
  std::uint64_t unknown = 0;  ///< of these: users that had not contributed, so that the identifier may be mistyped
  std::uint64_t nobody = 0;   ///< users whose text is one of privacy.user_null now, which may have been another list
  std::uint64_t quoted = 0;   ///< users whose line is in quotes, or has blanks around its text
};

/// Whether a line looks as if it had been copied out of a file of another format.
[[nodiscard]] inline bool is_quoted(std::string_view line) {
  constexpr std::string_view blanks = " \t";
  const bool has_quotes = line.size() > 1 && line.front() == '"' && line.back() == '"';
  return has_quotes || blanks.find(line.front()) != blanks.npos || blanks.find(line.back()) != blanks.npos;
}

/// Calls `close(entry, number)` once for the user of each line, with the partitioner's number of that user. The entry
/// has the standing of a user that never contributed. `close` returns whether the user is known. A line may end in CR
/// LF, and the first one may begin with a byte order mark. An empty line names no user.
template <class Close>
NamedUsers for_each_identifier(std::istream& lines, const UserKey& key, Partitioner partitioner,
                               std::span<const std::string> nobody, const Close& close) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  NamedUsers found;
  std::set<UserHash> seen;
  bool is_first = true;
  for (std::string line; std::getline(lines, line); is_first = false) {
    if (is_first && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    const UserHash user = key.hash(line);
    if (!seen.insert(user).second) continue;
    ++found.users;
    if (is_quoted(line)) ++found.quoted;
    if (std::ranges::find(nobody, line) != nobody.end()) ++found.nobody;
    const std::uint32_t number = partition_number(partitioner, line, user);
    if (!close(Entry{user, key.masked(user, number), {}}, number)) ++found.unknown;
  }
  return found;
}

/// Throws Failure(data) where no line names a user.
inline void require_any(const NamedUsers& found) {
  if (found.users > 0) return;
  throw Failure(
      Exit::data,
      "standard input: no line names a user; nobody is closed. Give identifiers, one a line, as they stand in "
      "the records");
}

/// Closes the user of `of`. The user's entry stays in the table, and says that the user may contribute no more.
/// Returns whether the user is known: has contributed before, or is closed already.
inline bool close_user(const Entry& of, Changes& changes) {
  const Standing before = changes.find(of.user);
  changes.put({of.user, of.number, closed(before)});
  return before.count > 0;
}

/// What a warning says, behind its place and its reason, where nobody knows any more who was closed.
inline constexpr const char* closed_count_again =
    "users that 'nustream users close' closed there count again; close them again with that command";

/// Whether any user of the table is closed.
[[nodiscard]] inline bool holds_closed(const Standings& table) {
  bool found = false;
  for (unsigned part = 0; part < Standings::parts; ++part) {
    table.visit_part(part, [&](const Entry& entry) { found |= entry.standing.count == closed_count; });
  }
  return found;
}

}  // namespace nustream::users
