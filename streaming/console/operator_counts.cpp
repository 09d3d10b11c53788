#include "console/operator_counts.h"

#include <cstdio>

#include <fmt/format.h>

#include "console/path_printer.h"
#include "publish/json_text.h"

namespace nustream::console {

void say_for_operator(const std::string& line) {
  if (!line.empty()) fmt::print(stderr, "operator only, not private: {}\n", line);
}

void print_for_operator(const OperatorCounts& counts, const RejectsList& rejects) {
  if (std::string line = check::unusable_line(counts); !line.empty()) {
    if (!rejects.file.empty() && rejects.is_written) {
      line += (rejects.is_cut ? "; the first of them are listed in " : "; listed in ") + rejects.file;
    } else {
      line += ": nustream check CONFIG --data shows more";
    }
    say_for_operator(line);
  }
  say_for_operator(check::clipped_line(counts));
  say_for_operator(check::used_up_line(counts));
  if (counts.left_over > 0) {
    say_for_operator(fmt::format("{} of the last records, fewer than a minibatch, took no step", counts.left_over));
  }
}

void warn_of_lost(const RejectsList& rejects) {
  if (rejects.file.empty() || rejects.is_written) return;
  say_for_operator(
      rejects.file +
      " could not be written to its end: it does not list all unusable records; check disk and permissions");
}

std::string operator_json(const OperatorCounts& counts, const RejectsList& rejects) {
  std::string out = "{\"private\":false";
  publish::append_field("records", counts.records, out);
  publish::append_field("rejected", counts.rejected, out);
  if (counts.rejected > 0) publish::append_field("most_often", counts.most_frequent_reason(), out);
  publish::append_field("gradients", counts.gradients, out);
  publish::append_field("clipped", counts.clipped, out);
  publish::append_field("left_over", counts.left_over, out);
  publish::append_field("used_up", counts.used_up, out);
  if (!rejects.file.empty()) {
    publish::append_field("rejects", rejects.file, out);
    out += rejects.is_written ? ",\"rejects_written\":true" : ",\"rejects_written\":false";
  }
  return out;
}

}  // namespace nustream::console
