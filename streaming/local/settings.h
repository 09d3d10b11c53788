// The settings of `nustream local`: what users and the server have to agree on, and what each side keeps where.
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
  config::InputSettings input;  ///< how the users' records are read
  record::Schema schema;        ///< without an intercept
  inference::LocalBounds bounds;
  inference::LocalBudget budget;

  // The user's side.
  std::string record_key;         ///< column that names a record; empty: its position in the input names it
  std::string reports_directory;  ///< where reports are kept

  // The server's side.
  std::string directory;    ///< folder of the running sums
  std::string public_rows;  ///< CSV file of public unlabeled rows; empty: none
  inference::LocalSolverSettings solver;
  std::uint64_t commit_reports;  ///< sums are committed after this many reports …
  double commit_seconds;         ///< … or after this time, whichever comes first
  config::Kafka kafka;
};

/// Reads `file` with `overrides` on top. Relative inputs are relative to the file's folder, and relative folders to
/// the working directory. Throws Failure(configuration) with file:line:column, the key and what is allowed.
[[nodiscard]] Settings read_settings(const std::string& file, const std::vector<std::string>& overrides);

/// The mechanism of the settings. Throws Failure(configuration), which names the key, where they allow none.
[[nodiscard]] inference::LocalMechanism make_mechanism(const Settings& settings);

/// A digest of 64 hexadecimal digits over everything that a report's meaning depends on: stream, features, target,
/// bounds and budget (docs/formats/local.md). Users and server agree where their digests are equal.
[[nodiscard]] std::string mechanism_digest(const Settings& settings);

/// The words of the settings: "exact" and "paper", or "l1", "l2" and "paper".
[[nodiscard]] const char* name(inference::LocalCalibration calibration) noexcept;
[[nodiscard]] const char* name(inference::LocalNorm norm) noexcept;

}  // namespace nustream::local
