// `nustream estimate`: a private descent over a whole table (or running sums of it), with intervals.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "error.h"
#include "folder/account_share.h"
#include "folder/options.h"

namespace nustream::estimate {

/// What the command line adds to the settings.
struct Options {
  folder::Start start = folder::Start::fresh;
  bool goes_on_behind_measuring = false;  ///< as in folder::Options
  std::vector<std::string> files;         ///< as typed, in place of stream.input; empty to read stream.input
  std::optional<double> min_usable;  ///< the share of the table's records that has to be usable for a run to begin
  std::optional<std::uint64_t> insecure_seed;
  bool compare_nonprivate = false;
  std::optional<double> compare_x_bound;  ///< AdaSSP's bound on ‖x‖₂, in working coordinates
  std::optional<double> compare_y_bound;  ///< AdaSSP's bound on |y|, in working coordinates
  bool json = false;
  std::string operator_json{};  ///< as in folder::Options
  std::string report{};         ///< as in folder::Options
  std::string chart{};          ///< as in folder::Options
  bool quiet = false;
};

/// Reads the table, descends for estimate.steps steps (several times for intervals by runs), commits every iterate
/// before it is public, and prints the result. `config` was read for Purpose::table. `share` is the folder's part of
/// its account. Returns the exit code, and throws Failure.
[[nodiscard]] Exit run(config::Config config, const Options& options, folder::AccountShare& share);

}  // namespace nustream::estimate
