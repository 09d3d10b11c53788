// Closes users, whose identifiers are given one a line: a closed user contributes to no step any more. This header
// also says whether a table holds a closed user, and has the words of the warning where closed users are forgotten.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <string>

#include "nustream/users/changes.h"
#include "nustream/users/gate.h"
#include "nustream/users/placement.h"
#include "nustream/users/standings.h"
#include "users/user_key.h"

namespace nustream::users {

/// Calls `close(entry, number)` for the user of each line, with the partitioner's number of that user. The entry has
/// the standing of a user that never contributed. Returns how many lines there were. A line may end in CR LF.
template <class Close>
std::uint64_t for_each_identifier(std::istream& lines, const UserKey& key, Partitioner partitioner,
                                  const Close& close) {
  std::uint64_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    if (line.ends_with('\r')) line.pop_back();
    const UserHash user = key.hash(line);
    const std::uint32_t number = partition_number(partitioner, line, user);
    close(Entry{user, key.masked(user, number), {}}, number);
  }
  return count;
}

/// Closes the user of `of`. The user's entry stays in the table, and says that the user may contribute no more.
inline void close_user(const Entry& of, Changes& changes) {
  changes.put({of.user, of.number, closed(changes.find(of.user))});
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
