// Prints what `nustream local collect` found: the model, and how far it can be relied on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "local/counting.h"
#include "local/settings.h"
#include "nustream/inference/local_mechanism.h"
#include "nustream/inference/local_solver.h"

namespace nustream::local {

/// Public unlabeled rows, as load_public_rows() reads them: what the server knows of x without asking anybody.
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

struct Collected {
  const Settings& settings;
  const inference::LocalMechanism& mechanism;
  const LoadedRows& rows;
  Counted counted{};
  std::uint64_t reports = 0;                           ///< n, counted by all runs together
  std::optional<inference::LocalEstimate> estimate{};  ///< empty while there is no report
};

/// One line of JSON; docs/local.md names its members.
[[nodiscard]] std::string model_json(const Collected& collected);
/// The model as a table for people.
[[nodiscard]] std::string model_table(const Collected& collected);

}  // namespace nustream::local
