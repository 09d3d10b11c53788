// `nustream estimate`: a private descent over a whole table, with intervals.
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
  std::vector<std::string> files;    ///< as typed, in place of stream.input; empty for that
  std::optional<double> min_usable;  ///< of the table; else no run is begun
  std::optional<std::uint64_t> insecure_seed;
  bool compare_nonprivate = false;
  std::optional<double> compare_x_bound;  ///< AdaSSP's bound on ‖x‖₂
  std::optional<double> compare_y_bound;  ///< and on |y|, in working coordinates
  bool json = false;
  std::string operator_json{};  ///< as folder::Options
  std::string report{};         ///< as folder::Options
  std::string chart{};          ///< as folder::Options
  bool quiet = false;
};

/// Reads the table, descends for estimate.steps steps (several times for intervals by runs), commits every iterate
/// before it is public, and prints the table. config is read for Purpose::table. Throws Failure.
[[nodiscard]] Exit run(config::Config config, const Options& options, folder::AccountShare& share);

}  // namespace nustream::estimate
