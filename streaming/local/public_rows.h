// Public unlabeled rows: what the server knows of x without asking anybody.
#pragma once

#include <cstdint>
#include <vector>

#include "local/settings.h"

namespace nustream::local {

struct LoadedRows {
  std::vector<double> x;        ///< row-major rows × p, projected as the users' are
  std::uint64_t rows = 0;       ///< m
  std::uint64_t projected = 0;  ///< of them, those beyond the bounds
  std::uint64_t unusable = 0;   ///< left out
};

/// Reads settings.public_rows, a file in the format of the stream with a header that names the features' columns; all
/// of it, in memory. Failure(configuration) where a column is not there, Failure(data) where no row is usable,
/// Failure(io).
[[nodiscard]] LoadedRows load_public_rows(const Settings& settings);

}  // namespace nustream::local
