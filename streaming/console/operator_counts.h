// What the operator of a run is told about its records. It depends on data and is not private.
#pragma once

#include <string>

#include "check/tally.h"
#include "config/input.h"
#include "publish/json_writer.h"

namespace nustream::console {

using OperatorCounts = check::Tally;

/// The file that unusable records are listed in.
struct RejectsList {
  std::string file;         ///< empty where no list was asked for
  bool is_written = false;  ///< false where a write failed: no record is listed from there on
  bool is_cut = false;      ///< the list became full: only the first ones are in it
};

/// Prints a line on standard error, marked as not private; prints nothing for an empty line.
void say_for_operator(const std::string& line);
/// Prints on standard error, marked as not private: how many records could not be used and why, how many gradients
/// were clipped, and how many records took no step. It prints these lines even where the run shows nothing else, but
/// no line where there is nothing to say. A run that fails prints them too, before the line that says why.
/// `input` is what the records were read from, of which the beginning is read once more for advice.
void print_for_operator(const OperatorCounts& counts, const RejectsList& rejects, const config::InputSettings& input);
/// Prints one more line where the list could not be written, even where the run shows nothing else.
void warn_of_lost(const RejectsList& rejects);
/// Writes the members "private":false,… of the object of `--operator-json`.
void append_counts(const OperatorCounts& counts, const RejectsList& rejects, publish::JsonWriter& json);
/// The object of `--operator-json` for a run that adds no other members to it.
[[nodiscard]] std::string operator_json(const OperatorCounts& counts, const RejectsList& rejects);

}  // namespace nustream::console
