// What the decoders of all formats have in common: which decoder a format has, which column is private, and the
// checks and hints around headers.
#include "decode/line_decoder.h"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "decode/csv_line.h"
#include "decode/first_lines.h"
#include "error.h"

namespace nustream::decode {
namespace {

/// Whether the feature is made of the column, in either of its terms.
bool reads(const record::Feature& feature, const std::string& column) {
  return feature.first.column == column || (feature.second && feature.second->column == column);
}

/// Whether the line begins with one of the signs with which lines above a header commonly do.
bool begins_as_comment(std::string_view line) {
  return line.find_first_of("#%!") == 0;
}

/// Whether at least half of the fields are empty, the last one among them: a title above a header is filled up so by
/// programs that write as many delimiters on each line.
bool is_filled_up(std::string_view line, const config::InputSettings& settings) {
  std::vector<std::string_view> fields;
  std::string unquoted;
  const std::string_view whole = without_mark(without_line_end(line));
  const CsvFault fault =
      split_csv_line(whole, settings.delimiter, std::numeric_limits<std::size_t>::max(), fields, unquoted);
  if (fault != CsvFault::none || !trimmed(fields.back()).empty()) return false;
  const auto empty = std::ranges::count_if(fields, [](std::string_view field) { return trimmed(field).empty(); });
  return 2 * static_cast<std::size_t>(empty) >= fields.size();
}

}  // namespace

std::string private_column(const record::Schema& schema) {
  if (!schema.features_public || !schema.target) return {};
  const std::string& column = schema.target->first.column;
  // A feature, weight or exposure that reads the target's column would show a part of what alone is private.
  const bool shared = std::any_of(schema.features.begin(), schema.features.end(),
                                  [&](const record::Feature& feature) { return reads(feature, column); }) ||
                      (schema.weight && schema.weight->term.column == column) ||
                      (schema.exposure && schema.exposure->term.column == column);
  if (shared || (schema.target->second && schema.target->second->column != column)) {
    throw Failure(Exit::configuration, "column '" + column +
                                           "': where the target alone is private it is read from one column, which "
                                           "no feature reads; change target or features");
  }
  return column;
}

std::unique_ptr<LineDecoder> make_line_decoder(const InputSettings& settings, std::span<const record::Field> fields,
                                               const std::string& private_column) {
  switch (settings.format) {
    case Format::csv:
      return make_csv_decoder(settings, fields, private_column);
    case Format::json_lines:
      if (!private_column.empty()) {
        throw Failure(Exit::configuration,
                      "column '" + private_column +
                          "': in JSON the target's text decides how the rest of its object is read, "
                          "so the target cannot be all that is private; use CSV with the target last");
      }
      return make_json_decoder(settings, fields);
  }
  __builtin_unreachable();
}

double read_text(const record::Field& field, std::string_view text, const InputSettings& settings) {
  switch (settings.format) {
    case Format::csv:
      return field.reading == record::Reading::number ? read_csv_number(text, settings.decimal)
                                                      : record::read_field(field, text);
    case Format::json_lines:
      return record::read_field(field, text);
  }
  __builtin_unreachable();
}

std::string hint_for_lines_above(std::string_view line, const config::InputSettings& settings) {
  if (begins_as_comment(line) && settings.comment.empty()) {
    const std::string mark(line.substr(0, 1));
    return " (if lines that begin with '" + mark + "' stand above the header, set stream.comment = \"" + mark +
           "\", or stream.skip_lines to their number)";
  }
  const bool is_divided = line.find(settings.delimiter) != std::string_view::npos ||
                          line.find_first_of(";\t|,") != std::string_view::npos;
  if ((is_divided && !is_filled_up(line, settings)) || settings.skip_lines > 0) return {};
  return " (if it is a title above the header, set stream.skip_lines = N, the number of such lines)";
}

void require_files_ahead(const config::InputSettings& settings, LineDecoder& decoder) {
  for (const std::string& path : settings.files) {
    // Where the beginning is damaged, the records in front of the damage would be stepped, and their budget lost.
    const std::optional<FirstContent> first = first_content(path, settings, look_bytes, Faults::thrown);
    // The first file was opened by the reader itself, which has its header.
    if (!first || &path == &settings.files.front()) continue;
    const std::string_view content = behind_skipped(first->bytes, settings);
    if (content.empty() && first->is_all) throw empty_file(path, settings, decoder.has_header());
    const std::size_t end = content.find('\n');
    // A header longer than what was looked at is judged later, by the reader.
    const bool is_whole = end != std::string_view::npos || (first->is_all && !content.empty());
    if (decoder.has_header() && is_whole) begin_file(decoder, content.substr(0, end), path, settings);
  }
}

Failure empty_file(const std::string& path, const config::InputSettings& settings, bool has_header) {
  const bool is_skipped = settings.skip_lines > 0 || !settings.comment.empty();
  return {Exit::data, "'" + path + "' is empty" +
                          (is_skipped ? " behind the lines that stream.skip_lines and stream.comment pass" : "") +
                          "; give it records" + (has_header ? " and a header" : "")};
}

void begin_file(LineDecoder& decoder, std::string_view header, const std::string& path,
                const config::InputSettings& settings) {
  try {
    // The decoder knows nothing of lines above the header. The hint about them is added here.
    decoder.begin_file(header, path);
  } catch (const Failure& failure) {
    // A line for which a delimiter is proposed is no title.
    const std::string message = failure.what();
    const bool is_told = message.find("set stream.delimiter") != std::string::npos && !begins_as_comment(header);
    throw Failure(failure.code(), is_told ? message : message + hint_for_lines_above(header, settings));
  }
}

}  // namespace nustream::decode
