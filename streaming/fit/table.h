// The numbers of a file, read column by column, so that a value that cannot be read spoils only its own column.
#pragma once

#include <optional>
#include <vector>

#include "check/tally.h"
#include "fit/columns.h"
#include "nustream/ranges/table_fit.h"

namespace nustream::fit {

/// The numbers of a file; NaN where a value cannot be read.
struct FileTable {
  std::size_t features = 0;
  std::vector<double> x;  ///< row-major
  std::vector<double> y;
  std::vector<double> weights;  ///< empty where records have no weight; a negative weight counts as unreadable
  /// Why values could not be read: one tally for each feature, one for the target, and one for the weight where there
  /// is one. For the operator alone.
  std::vector<check::Tally> unread{};

  [[nodiscard]] ranges::Table view() const noexcept { return {features, x, y, weights}; }
};

/// Reads the file once for every column. Throws as the reader does, and Failure(data) where the file changes
/// meanwhile.
[[nodiscard]] FileTable read_file(const Columns& columns);

}  // namespace nustream::fit
