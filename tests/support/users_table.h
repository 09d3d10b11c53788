// A table of users as a plain map, to compare with.
#pragma once

#include <map>

#include "nustream/users/standings.h"

namespace nustream::tests {

using PlainUsers = std::map<users::UserHash, users::Entry>;

inline PlainUsers read(const users::Standings& table) {
  PlainUsers entries;
  for (unsigned part = 0; part < users::Standings::parts; ++part) {
    table.visit_part(part, [&](const users::Entry& entry) { entries.emplace(entry.user, entry); });
  }
  return entries;
}

}  // namespace nustream::tests
