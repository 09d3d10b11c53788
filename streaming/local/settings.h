// The settings of `nustream local`: what users and the server have to agree on, and each side's own places.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/input.h"
#include "config/kafka.h"
#include "nustream/inference/local_mechanism.h"
#include "nustream/inference/local_solver.h"
#include "nustream/record/schema.h"

namespace nustream::local {

struct Settings {
  std::string file;
  std::string stream;
  config::InputSettings input;  ///< of the users' records
  record::Schema schema;        ///< without an intercept
  inference::LocalBounds bounds;
  inference::LocalBudget budget;

  // The user's side.
  std::string record_key;         ///< column that names a record; empty: its position in the input does
  std::string reports_directory;  ///< where reports are kept

  // The server's side.
  std::string directory;    ///< of the running sums
  std::string public_rows;  ///< CSV file of public unlabeled rows; empty: none
  inference::LocalSolverSettings solver;
  std::uint64_t commit_reports;  ///< sums are committed after so many reports …
  double commit_seconds;         ///< … or so long, whichever comes first
  config::Kafka kafka;
};

/// Reads `file` with `overrides` on top. Relative inputs are sought beside the file, relative folders in the working
/// directory. Throws Failure(configuration) with file:line:column, the key and what is allowed.
[[nodiscard]] Settings read_settings(const std::string& file, const std::vector<std::string>& overrides);

/// The mechanism of the settings; a refusal names the key. Failure(configuration).
[[nodiscard]] inference::LocalMechanism make_mechanism(const Settings& settings);

/// 64 hexadecimal digits over everything that a report's meaning depends on: stream, features, target, bounds, budget
/// (docs/formats/local.md). Users and server agree where theirs are equal.
[[nodiscard]] std::string mechanism_digest(const Settings& settings);

/// "exact", "paper" and "l1", "l2", "paper": as in the settings.
[[nodiscard]] const char* name(inference::LocalCalibration calibration) noexcept;
[[nodiscard]] const char* name(inference::LocalNorm norm) noexcept;

}  // namespace nustream::local
