// The numbers of a file, column by column, so that a value that cannot be read spoils its own column alone.
#pragma once

#include <optional>
#include <vector>

#include "check/tally.h"
#include "fit/columns.h"
#include "nustream/ranges/table_fit.h"

namespace nustream::fit {

/// NaN where a value cannot be read.
struct FileTable {
  std::size_t features = 0;
  std::vector<double> x;  ///< row-major
  std::vector<double> y;
  std::vector<double> weights;  ///< empty where records have none; a negative one is none
  /// Why values could not be read, of every feature, the target, and the weight where there is one. For the
  /// operator alone.
  std::vector<check::Tally> unread{};

  [[nodiscard]] ranges::Table view() const noexcept { return {features, x, y, weights}; }
};

/// Reads the file once for every column. Failure as the reader's; Failure(data) where the file changes meanwhile.
[[nodiscard]] FileTable read_file(const Columns& columns);

}  // namespace nustream::fit
