// What the operator of a run is told of its records. It depends on data and is not private.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "nustream/record/batch.h"

namespace nustream::console {

struct OperatorCounts {
  std::uint64_t records = 0;
  std::uint64_t rejected = 0;
  std::uint64_t left_over = 0;                     ///< records at the end, fewer than a minibatch, that took no step
  std::map<std::string, std::uint64_t> reasons{};  ///< of the rejected ones, how many for each

  void add(std::span<const record::Reject> rejects);
  /// The reason of most, "" where nothing was rejected.
  [[nodiscard]] std::string most_frequent_reason() const;
};

/// Where unusable records are listed.
struct RejectsList {
  std::string file;         ///< empty: not asked for
  bool is_written = false;  ///< false: a write failed, and none is listed from there on
  bool is_cut = false;      ///< the first ones alone were to be listed
};

/// At most two lines on standard error, marked as not private; none where there is nothing to say.
void print_for_operator(const OperatorCounts& counts, const RejectsList& rejects);
/// Where they could not be written: one line more, whatever else is shown of the run.
void warn_of_lost(const RejectsList& rejects);
/// ,"operator":{…}
void append_operator(const OperatorCounts& counts, const RejectsList& rejects, std::string& out);

}  // namespace nustream::console
