// The columns of a CSV file: their names, and which of them a schema needs.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nustream::decode {

/// Names of the columns from the header line of the file at `path` (for messages). Spaces around unquoted names
/// and a byte order mark are dropped. Failure(data) where the line is no header: empty, with control characters,
/// not readable as CSV, or nothing but numbers.
[[nodiscard]] std::vector<std::string> read_header(std::string_view line, char delimiter, const std::string& path);

/// Where `column` is among `names`, from 0. `where` says whose names they are, for messages. Failure(configuration)
/// where it is not there or more than once. It names those that are there, or the one that was meant, only where
/// other `configured` columns prove that they are names and nobody's record, or where the reader of the line says so
/// (`may_show`).
[[nodiscard]] std::size_t find_column(const std::vector<std::string>& names, const std::string& column,
                                      const std::string& where, std::span<const std::string> configured,
                                      bool may_show = false);

/// Failure(configuration) that names all of `configured` that are not among `names`, where it is more than one of
/// them (of one, find_column() says more). It names those that are there, or the ones that were meant, as
/// find_column() does.
void require_columns(const std::vector<std::string>& names, const std::string& where,
                     std::span<const std::string> configured, bool may_show = false);

}  // namespace nustream::decode
