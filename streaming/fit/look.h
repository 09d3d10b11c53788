// What its operator is told of a file before a fit of it spends anything. It depends on records and is not private.
#pragma once

#include <string>
#include <vector>

#include "fit/columns.h"
#include "fit/table.h"

namespace nustream::fit {

/// What of a file can be used.
struct Look {
  std::uint64_t records = 0;
  std::uint64_t usable = 0;          ///< by the columns that are listed, or most of whose values are numbers
  std::vector<std::string> lines{};  ///< a sentence each, with its cure, of what cannot
};

[[nodiscard]] Look look_at(const Options& options, const Columns& columns, const FileTable& table);

/// Of a column of the table (the target behind the features): why it has so few numbers, and the cure.
[[nodiscard]] std::string why_unread(const Columns& columns, const FileTable& table, std::size_t column);

/// Failure(unusable) where fewer than --min-usable asks for can be used. For the operator alone.
void require_usable(const Options& options, const Look& look);

}  // namespace nustream::fit
