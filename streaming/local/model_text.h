// Prints what `nustream local collect` found: the model, and how far it can be relied on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "local/counting.h"
#include "local/public_rows.h"
#include "local/settings.h"
#include "nustream/inference/local_mechanism.h"
#include "nustream/inference/local_solver.h"

namespace nustream::local {

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
/// The same as a table for people.
[[nodiscard]] std::string model_table(const Collected& collected);

}  // namespace nustream::local
