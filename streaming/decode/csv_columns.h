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
/// control characters, cannot be read as CSV, or holds nothing but numbers. Throws Failure(configuration) where
/// another character than `delimiter` divides it.
[[nodiscard]] std::vector<std::string> read_header(std::string_view line, char delimiter, const std::string& path);

/// The place of `column` among `names`, from 0. `where` says in messages whose names they are. Throws
/// Failure(configuration) where the column is missing or comes more than once. The message shows the names, or the
/// one that was probably meant, in two cases only: other `configured` columns prove that they are names and not
/// somebody's record, or the person who reads the message may see the line (`may_show`). `delimiter` is the one that
/// divided the names.
[[nodiscard]] std::size_t find_column(const std::vector<std::string>& names, const std::string& column,
                                      const std::string& where, std::span<const std::string> configured,
                                      bool may_show = false, char delimiter = ',');

/// Throws Failure(configuration) that names all of `configured` that are missing in `names`, where at least two are
/// missing (about a single one, find_column() says more). It shows names under the same conditions as find_column().
void require_columns(const std::vector<std::string>& names, const std::string& where,
                     std::span<const std::string> configured, bool may_show = false, char delimiter = ',');

}  // namespace nustream::decode
