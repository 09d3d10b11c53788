// Records of a few users, and those that stand in the place of one user's records in a neighbouring stream.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "coupled_users.h"

namespace nustream::tests {

/// The user in whom two neighbouring streams differ.
inline constexpr const char* the_user = "1";

/// The fields of one record, of a CSV without a header.
struct Fields {
  std::string x;
  std::string who;
  std::string y;
  double when;  ///< the message's own time in seconds; NaN where it has none
  [[nodiscard]] std::string text() const { return x + ',' + who + ',' + y; }
};

/// Records of a few users. In `hostile` streams most records belong to one user, and each makes the longest
/// contribution, all of them in one direction.
[[nodiscard]] std::vector<Fields> draw_records(const WorldOfUsers& world, std::mt19937_64& random, bool hostile);

/// What stands in the place of one of the user's records: nothing, or, under replace-one, a record of somebody else.
/// The time stays, because it is public.
[[nodiscard]] Fields in_its_place(const WorldOfUsers& world, Fields record, std::mt19937_64& random, bool opposite);

/// The rows of the records, as the decoder of messages makes them.
[[nodiscard]] record::RowBatch rows_of(const WorldOfUsers& world, const std::vector<Fields>& records);

}  // namespace nustream::tests
