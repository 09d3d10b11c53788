// What the command line says of a run over a folder, and the command that goes on with it.
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
  new_epoch  ///< publish what the old epoch still owes, then begin a new noise epoch behind it
};

/// What the command line of `replay` adds to the settings; `estimate` fills in what it means by them.
struct Options {
  std::string command = "replay";  ///< that the user typed, for the ones that are printed
  Start start = Start::fresh;
  std::vector<std::string> files;  ///< as typed, in place of stream.input; empty for that
  std::optional<std::uint32_t> lane;
  std::optional<std::string> from;  ///< ordinal, or an ISO 8601 time where times are public
  std::optional<std::string> to;
  std::uint64_t passes = 1;  ///< k: how often the whole input is read
  std::optional<double> speed;
  std::optional<std::uint64_t> insecure_seed;
  std::optional<double> min_usable;  ///< of the first records; else a fresh run or epoch is not begun
  bool from_start = false;           ///< a new epoch begins at descent.start, whatever was released before it
  bool compared = false;  ///< answers that are not private stand beside this run's: it is marked so, for ever
  bool json = false;
  std::string operator_json{};  ///< file for what of the run's end is the operator's alone; empty: none
  bool serve = false;           ///< the listeners of [serve] show the run, and stay up behind its end
  std::string report{};         ///< file for the report; empty: none
  std::string chart{};          ///< file for a picture of the main coefficient; empty: none
  bool quiet = false;           ///< no path, no table
};

/// One word of a shell's command, in quotes where it needs them.
[[nodiscard]] std::string in_shell(const std::string& text);

/// "nustream COMMAND CONFIG FILE… --set … OPTION": the command to type next, with what this run was given.
[[nodiscard]] std::string command_to_go_on(const config::Config& config, const Options& options,
                                           const std::string& option);

}  // namespace nustream::folder
