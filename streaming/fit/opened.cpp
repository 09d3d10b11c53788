// Opens a file for a fit and talks to the operator about it. Failures of the readers are put into the words of the
// options, since there is no configuration that they could refer to.
#include "fit/opened.h"

#include <algorithm>

#include <fmt/format.h>

#include "console/operator_counts.h"
#include "decode/line_decoder.h"
#include "fit/input.h"
#include "shell_word.h"

namespace nustream::fit {
namespace {

/// Says why a column is left out that has a number in every record: noise hides values that are spread over many
/// octaves, since each octave then has few of them.
void say_of_spread(const Opened& input, std::size_t column) {
  const record::Feature& feature = input.columns.features[column];
  std::string name = feature.first.column;
  // A comma within a name is escaped, as --features splits its list at commas.
  for (std::size_t at = name.find(','); at != name.npos; at = name.find(',', at + 2)) name.insert(at, 1, '\\');
  const bool is_plain = feature.first.transform == record::Transform::identity;
  console::say_for_operator(fmt::format(
      "every record has a number for '{}', but noise hides how large these numbers are: there are too few records "
      "for this rho, or the numbers have too many sizes{}",
      feature.name,
      is_plain ? "; if all are above 0, their logarithm has fewer: --features " + in_shell("log(" + name + ")")
               : ""));
}

/// Says why a column is not in the answer, unless that was said before the fit.
void say_of(const Opened& input, std::size_t column) {
  if (is_one_more_of_column(input.columns, column)) return;
  if (input.table.unread[column].rejected == 0) {
    if (column < input.table.features) say_of_spread(input, column);
    return;
  }
  const std::string why = why_unread(input.columns, input.table, column);
  if (std::ranges::find(input.look.lines, why) == input.look.lines.end()) console::say_for_operator(why);
}

/// A hint where a column is not found, and the first line of the file looks like a comment above a header.
std::string hint_of(const Options& options, std::string_view message) {
  if (message.find("no column") == std::string_view::npos) return {};
  try {
    const config::InputSettings input = input_of(options);
    return input.header ? decode::hint_for_lines_above(first_line(input), input) : std::string();
  } catch (const Failure&) {
    return {};
  }
}

}  // namespace

Opened open_table(const Options& options) {
  try {
    Opened input{columns_of(options), {}, {}};
    input.table = read_file(input.columns);
    if (input.table.y.empty()) {
      throw Failure(Exit::data,
                    "'" + options.file + "' holds no records: name a file with a header and lines below it");
    }
    input.look = look_at(options, input.columns, input.table);
    return input;
  } catch (const Failure& failure) {
    throw Failure(failure.code(), in_options(failure.what() + hint_of(options, failure.what())));
  }
}

Exit print_look(const Options& options, const Look& look) {
  fmt::print("NOT PRIVATE, for the operator alone: '{}' has {} records, of which {} ({}) can be used\n", options.file,
             check::with_separators(look.records), check::with_separators(look.usable),
             check::percent(look.usable, look.records));
  for (const std::string& line : look.lines) fmt::print("{}\n", line);
  fmt::print("nothing was read privately, nothing is spent\n");
  require_usable(options, look);
  if (look.usable > 0) return Exit::done;
  fmt::print(stderr, "nustream: no record can be used; nothing was charged here\n");
  return Exit::unusable;
}

void say_why_left_out(const Opened& input, const ranges::TableFit& fit) {
  try {
    if (fit.unusable_column) say_of(input, *fit.unusable_column);
    for (std::size_t j = 0; !fit.is_stopped && j < input.columns.features.size(); ++j) {
      if (std::ranges::find(fit.features, j) == fit.features.end()) say_of(input, j);
    }
  } catch (const Failure&) {
    // The file went away and its texts could not be read again. The answer does not depend on them, so nothing is
    // said.
  }
}

}  // namespace nustream::fit
