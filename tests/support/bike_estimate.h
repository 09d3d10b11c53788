// `nustream estimate` over the table of hours of a bike hire.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "bike_columns.h"
#include "configured_command.h"
#include "temporary_folder.h"

namespace nustream::tests {

/// Settings with so large a ρ that the noise is nothing.
inline std::string bike(const std::string& more = "") {
  return bike_columns() + R"([descent]
step_size = 0.5
clip_norm = 100.0
[privacy]
rho = 1e6
delta = 1e-6
[estimate]
steps = 200
)" + more;
}

inline JsonOutput estimate(const TemporaryFolder& folder, const std::string& config,
                           const std::vector<std::string>& options = {}) {
  return run_configured("estimate", folder, config, options);
}

inline std::size_t lines_in(const std::string& file) {
  std::ifstream lines(file);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) ++count;
  return count;
}

}  // namespace nustream::tests
