// What the operator of a run is told of its records. It depends on data and is not private.
#pragma once

#include <string>

#include "check/tally.h"

namespace nustream::console {

using OperatorCounts = check::Tally;

/// Where unusable records are listed.
struct RejectsList {
  std::string file;         ///< empty: not asked for
  bool is_written = false;  ///< false: a write failed, and none is listed from there on
  bool is_cut = false;      ///< the first ones alone were to be listed
};

/// A line on standard error, marked as not private; none of an empty one.
void say_for_operator(const std::string& line);
/// On standard error, marked as not private, whatever else is shown of the run: how many records could not be used
/// and why, how many gradients were clipped, and what took no step. No line where there is nothing to say. Of a run
/// that fails too, before the line that says why.
void print_for_operator(const OperatorCounts& counts, const RejectsList& rejects);
/// Where they could not be written: one line more, whatever else is shown of the run.
void warn_of_lost(const RejectsList& rejects);
/// {"private":false,…: the object of `--operator-json`, without the brace that closes it.
[[nodiscard]] std::string operator_json(const OperatorCounts& counts, const RejectsList& rejects);

}  // namespace nustream::console
