// Finds for each reason a record that was refused for it, and what to set where its text gives a hint. The input is
// read once more for that, so pipes have no examples. Texts of records are shown, hence to the operator alone.
#include "check/look.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "check/line_advice.h"
#include "check/times.h"
#include "config/unicode.h"
#include "decode/line_decoder.h"

namespace nustream::check {
namespace {

/// The column that a reason is about; empty where the reason is about the whole record.
/// "column 'age': not a number" is about age.
std::string column_of(const std::string& reason) {
  constexpr std::string_view before = "column '";
  const std::size_t end = reason.rfind("': ");
  if (!reason.starts_with(before) || end == std::string::npos) return {};
  return reason.substr(before.size(), end - before.size());
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_time_of(const record::Term& term, const std::string& column) {
  const bool is_time = term.transform == record::Transform::hour || term.transform == record::Transform::day_of_week;
  return is_time && term.column == column;
}

/// The unit that a column of times has in the settings; empty where the column is read as something else.
std::optional<record::TimeUnit> unit_of(const std::string& column, const record::Schema& schema) {
  for (const record::Feature& feature : schema.features) {
    if (is_time_of(feature.first, column)) return feature.first.unit;
    if (feature.second && is_time_of(*feature.second, column)) return feature.second->unit;
  }
  return std::nullopt;
}

/// Whether the text is base64 of some bytes, in which Debezium writes decimals unless it is told otherwise: with the
/// marks at its end that only base64 has, or of a row of Debezium's.
bool is_base64(std::string_view text, const config::InputSettings& input) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::size_t group = 4;
  const std::size_t end = std::min(text.find_last_not_of('=') + 1, text.size());
  const std::size_t marks = text.size() - end;
  if (end == 0 || text.size() % group != 0 || marks > 2 || (marks == 0 && input.envelope == config::Envelope::none)) {
    return false;
  }
  return text.substr(0, end).find_first_not_of(letters) == std::string_view::npos;
}

/// Says what to do where a member that is not a number looks like one that another program wrote; else returns "".
std::string advice_on_member(std::string_view text, const config::InputSettings& input) {
  constexpr const char* as_double = "set decimal.handling.mode=double in the connector that writes it (Debezium)";
  constexpr const char* with_dots =
      "write it with a dot: sed -E 's/(\"[-+]?[0-9]+),([0-9]+\")/\\1.\\2/g' FILE > FILE.jsonl";
  if (text.starts_with("{\"scale\":") && text.find("\"value\":") != std::string_view::npos) {
    return fmt::format("; this is a decimal in bytes: {}", as_double);
  }
  if (is_base64(text, input)) return fmt::format("; if this is a decimal in base64, {}", as_double);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || !is_digits(text.substr(0, comma)) || !is_digits(text.substr(comma + 1))) {
    return {};
  }
  constexpr std::size_t thousands = 3;
  return text.size() - comma - 1 == thousands
             ? fmt::format("; a comma between thousands is to be taken out; where it is a decimal one, {}", with_dots)
             : fmt::format("; {}", with_dots);
}

/// Says what to set where the text of a column that is not a number gives a hint; else returns "".
std::string advice_on_number(std::string_view text, const config::InputSettings& input) {
  // One carriage return before the newline belongs to the line's end, and a second one to its last field.
  if (text.ends_with('\r')) {
    return "; its lines end in doubled carriage returns, which are to be taken away: sed 's/\\r*$//' FILE > FILE.csv";
  }
  if (has_members(input)) return advice_on_member(text, input);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t comma = text.find(',');
  if (!has_columns(input) || input.decimal != '.' || comma == std::string_view::npos) return {};
  if (!is_digits(text.substr(0, comma)) || !is_digits(text.substr(comma + 1))) return {};
  // Three digits behind a comma may be thousands or decimals, so both readings are named.
  constexpr std::size_t thousands = 3;
  return text.size() - comma - 1 == thousands
             ? "; a comma between thousands is to be taken out; where it is a decimal one, set stream.decimal = \",\""
             : "; set stream.decimal = \",\"";
}

std::string line_of(const decode::SeenLine& seen, const config::InputSettings& input) {
  std::string text = fmt::format("line {}", seen.line);
  if (input.files.size() > 1) text += fmt::format(" of '{}'", seen.file);
  return text;
}

}  // namespace

std::string example_of(const std::string& reason, const std::string& place, const decode::SeenLine& seen,
                       const config::InputSettings& input, const record::Schema& schema) {
  const std::string column = column_of(reason);
  if (!column.empty()) {
    const auto found = decode::text_in(seen, column, input);
    if (!found || found->empty()) return place;
    const auto unit = unit_of(column, schema);
    const std::string advice = !config::is_utf8(*found) ? "; " + config::not_utf8()
                               : unit                   ? advice_on_time(*found, *unit)
                                                        : advice_on_number(*found, input);
    return fmt::format("{}: '{}'{}", place, decode::on_one_line(*found), advice);
  }
  // Only the beginning of such a record is known, and how many fields that has says nothing.
  if (reason == decode::too_long) return place;
  const auto counts = decode::field_counts(seen, input);
  const std::string advice = advice_on_line(reason, seen, input);
  if (!counts || counts->fields == counts->columns) return place + advice;
  return fmt::format("{} has {} field{}, where {} expected", place, counts->fields, counts->fields == 1 ? "" : "s",
                     counts->columns == 1 ? "1 column is" : fmt::format("{} columns are", counts->columns)) +
         advice;
}

std::map<std::string, std::string> examples_of(const Tally& tally, const config::InputSettings& input,
                                               const record::Schema& schema) {
  // The file is read once more, for all reasons together; seen_lines() takes ordinals in rising order.
  std::vector<std::uint64_t> ordinals;
  for (const auto& [reason, refused] : tally.reasons) ordinals.push_back(refused.first.value());
  std::sort(ordinals.begin(), ordinals.end());
  ordinals.erase(std::unique(ordinals.begin(), ordinals.end()), ordinals.end());
  const auto seen = decode::seen_lines(input, ordinals);
  std::map<std::string, std::string> examples;
  for (const auto& [reason, refused] : tally.reasons) {
    const auto found = seen.find(refused.first.value());
    if (found == seen.end()) continue;
    const decode::SeenLine& line = found->second;
    std::string example = example_of(reason, line_of(line, input), line, input, schema);
    // Of a few records among good ones nobody knows whether they were written so.
    const bool are_all = refused.count == tally.records;
    if (are_all && advice_on_line(reason, line, input).empty()) example += advice_on_fields(line, input);
    examples.emplace(reason, std::move(example));
  }
  return examples;
}

}  // namespace nustream::check
