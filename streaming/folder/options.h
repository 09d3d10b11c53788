// What the command line says about a run over a folder, and the command with which the run goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"

namespace nustream::folder {

enum class Start {
  fresh,     ///< the state folder must not hold a state
  resume,    ///< go on from the committed state
  new_epoch  ///< publish the releases that the old epoch still owes, then begin a new noise epoch after it
};

/// What the command line of `replay` adds to the settings. Other commands over a folder fill in the options that they
/// have.
struct Options {
  std::string command = "replay";  ///< the command that the user typed, to be printed in advice
  Start start = Start::fresh;
  std::vector<std::string> files;  ///< as typed, in place of stream.input; empty to read stream.input
  std::optional<std::uint32_t> lane;
  std::optional<std::string> from;  ///< ordinal, or an ISO 8601 time where times are public
  std::optional<std::string> to;
  std::uint64_t passes = 1;  ///< k: how often the whole input is read
  std::optional<double> speed;
  std::optional<std::uint64_t> insecure_seed;
  std::optional<double> min_usable;  ///< the share of the first records that has to be usable for a run to begin
  bool from_start = false;  ///< a new epoch begins at descent.start, even where an earlier epoch has released
  /// The new epoch is the one that a measuring was made for, and nobody asked for another: it is refused behind an
  /// older copy of the folder, as a resume is.
  bool goes_on_behind_measuring = false;
  bool compared = false;  ///< the run shows answers that are not private too, and its state is marked so for ever
  bool json = false;
  std::string operator_json{};  ///< a file for the facts of the run's end that only the operator may see; empty: none
  bool serve = false;           ///< the listeners of [serve] show the run, and stay up after its end
  std::string report{};         ///< a file for the report; empty: none
  std::string chart{};          ///< a file for a picture of the main coefficient; empty: none
  bool quiet = false;           ///< print no path of estimates and no table
};

/// The command to type next, with the files and options that this run was given:
/// "nustream COMMAND CONFIG FILE… --set … OPTION".
[[nodiscard]] std::string command_to_go_on(const config::Config& config, const Options& options,
                                           const std::string& option);

}  // namespace nustream::folder
