// What the operator of a fit is told about a file before the fit spends anything. It depends on records and is not
// private.
#pragma once

#include <string>
#include <vector>

#include "fit/columns.h"
#include "fit/table.h"

namespace nustream::fit {

/// How much of a file can be used.
struct Look {
  std::uint64_t records = 0;
  std::uint64_t usable = 0;          ///< by the columns that are listed, or that mostly hold numbers
  std::vector<std::string> lines{};  ///< a sentence for each thing that cannot be used, with its cure
};

[[nodiscard]] Look look_at(const Options& options, const Columns& columns, const FileTable& table);

/// Why a column of the table has so few numbers, and the cure. The target is the column behind the features.
[[nodiscard]] std::string why_unread(const Columns& columns, const FileTable& table, std::size_t column);

/// Throws Failure(unusable) where fewer records than --min-usable asks for can be used. The message is for the
/// operator alone.
void require_usable(const Options& options, const Look& look);

}  // namespace nustream::fit
