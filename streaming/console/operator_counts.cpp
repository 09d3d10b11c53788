// Puts the operator's counts into lines and JSON. All of it depends on data: the lines go to standard error, each
// marked as not private, and the JSON goes to the file that --operator-json names, never among the results.
#include "console/operator_counts.h"

#include <cstdio>

#include <fmt/format.h>

#include "check/line_advice.h"
#include "console/path_printer.h"
#include "publish/json_writer.h"

namespace nustream::console {

/// Every line for the operator alone passes here, so that none is without its mark.
void say_for_operator(const std::string& line) {
  if (!line.empty()) fmt::print(stderr, "operator only, not private: {}\n", line);
}

void print_for_operator(const OperatorCounts& counts, const RejectsList& rejects,
                        const config::InputSettings& input) {
  const std::string advice = counts.rejected > 0 ? check::advice_on_lines(counts, input) : std::string();
  if (std::string line = check::unusable_line(counts, advice); !line.empty()) {
    if (!rejects.file.empty() && rejects.is_written) {
      line += (rejects.is_cut ? "; the first of them are listed in " : "; listed in ") + rejects.file;
    } else {
      // Without a list, the operator can look at the records with a dry run.
      line += ": " + input.look + " shows more";
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

void append_counts(const OperatorCounts& counts, const RejectsList& rejects, publish::JsonWriter& json) {
  json.field("private", false);
  json.field("records", counts.records);
  json.field("rejected", counts.rejected);
  // The most frequent reason, which mostly tells what is wrong.
  if (counts.rejected > 0) json.field("most_often", counts.most_frequent_reason());
  json.field("gradients", counts.gradients);
  json.field("clipped", counts.clipped);
  json.field("left_over", counts.left_over);
  json.field("used_up", counts.used_up);
  // Without a list there is nothing to say about one.
  if (rejects.file.empty()) return;
  json.field("rejects", rejects.file);
  json.field("rejects_written", rejects.is_written);
}

std::string operator_json(const OperatorCounts& counts, const RejectsList& rejects) {
  return publish::object_text([&](publish::JsonWriter& json) { append_counts(counts, rejects, json); });
}

}  // namespace nustream::console
