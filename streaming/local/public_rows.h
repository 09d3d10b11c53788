// Reads public unlabeled rows: what the server knows of x without asking anybody.
#pragma once

#include <cstdint>
#include <vector>

#include "local/settings.h"

namespace nustream::local {

struct LoadedRows {
  std::vector<double> x;        ///< row-major rows × p, projected to the bounds as the users' rows are
  std::uint64_t rows = 0;       ///< m
  std::uint64_t projected = 0;  ///< how many of the rows were beyond the bounds
  std::uint64_t unusable = 0;   ///< how many were left out because they could not be read
};

/// Reads all of settings.public_rows into memory. The file is in the format of the stream, with a header that names
/// the features' columns. Throws Failure(configuration) where a column is missing, Failure(data) where no row is
/// usable, and Failure(io).
[[nodiscard]] LoadedRows load_public_rows(const Settings& settings);

}  // namespace nustream::local
