#include "console/operator_counts.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "console/path_printer.h"
#include "publish/json_text.h"

namespace nustream::console {
namespace {

void say(const std::string& line) {
  fmt::print(stderr, "operator only, not private: {}\n", line);
}

}  // namespace

void OperatorCounts::add(std::span<const record::Reject> rejects) {
  rejected += rejects.size();
  for (const record::Reject& reject : rejects) ++reasons[reject.reason];
}

std::string OperatorCounts::most_frequent_reason() const {
  const auto fewer = [](const auto& left, const auto& right) { return left.second < right.second; };
  const auto most = std::max_element(reasons.begin(), reasons.end(), fewer);
  return most == reasons.end() ? std::string() : most->first;
}

void print_for_operator(const OperatorCounts& counts, const RejectsList& rejects) {
  const std::string records = with_separators(counts.records);
  if (counts.rejected > 0) {
    std::string line = counts.rejected == counts.records
                           ? fmt::format("none of {} records could be used: every step was noise alone", records)
                           : fmt::format("{} of {} records could not be used (zero gradients)",
                                         with_separators(counts.rejected), records);
    line += "; most often " + counts.most_frequent_reason();
    if (!rejects.file.empty() && rejects.is_written) {
      line += (rejects.is_cut ? "; the first of them are listed in " : "; listed in ") + rejects.file;
    }
    say(line);
  }
  if (counts.left_over > 0) {
    say(fmt::format("{} of the last records, fewer than a minibatch, took no step", counts.left_over));
  }
}

void warn_of_lost(const RejectsList& rejects) {
  if (rejects.file.empty() || rejects.is_written) return;
  say(rejects.file + " could not be written: it does not list all; check disk and permissions");
}

void append_operator(const OperatorCounts& counts, const RejectsList& rejects, std::string& out) {
  out += ",\"operator\":{\"private\":false";
  publish::append_field("records", counts.records, out);
  publish::append_field("rejected", counts.rejected, out);
  if (counts.rejected > 0) publish::append_field("most_often", counts.most_frequent_reason(), out);
  publish::append_field("left_over", counts.left_over, out);
  if (!rejects.file.empty()) {
    publish::append_field("rejects", rejects.file, out);
    out += rejects.is_written ? ",\"rejects_written\":true" : ",\"rejects_written\":false";
  }
}

}  // namespace nustream::console
