// Reads the names of the columns of a CSV file, and finds those that a schema needs.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nustream::decode {

/// The names of the columns in the header line of the file at `path` (which is for messages). Spaces around unquoted
/// names and a byte order mark are dropped. Throws Failure(data) where the line is not a header: it is empty, has
/// control characters, cannot be read as CSV, or holds nothing but numbers.
[[nodiscard]] std::vector<std::string> read_header(std::string_view line, char delimiter, const std::string& path);

/// The place of `column` among `names`, from 0. `where` says in messages whose names they are. Throws
/// Failure(configuration) where the column is missing or comes more than once. The message shows names that are
/// there, or the one that was meant, only in two cases: other `configured` columns prove that they are names and not
/// somebody's record, or whoever reads the line may see it (`may_show`).
[[nodiscard]] std::size_t find_column(const std::vector<std::string>& names, const std::string& column,
                                      const std::string& where, std::span<const std::string> configured,
                                      bool may_show = false);

/// Throws Failure(configuration) that names all of `configured` that are missing in `names`, where those are more
/// than one (about one, find_column() says more). It shows names under the same conditions as find_column().
void require_columns(const std::vector<std::string>& names, const std::string& where,
                     std::span<const std::string> configured, bool may_show = false);

}  // namespace nustream::decode
