#include "check/examples.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "decode/seen_lines.h"

namespace nustream::check {
namespace {

/// The column that a reason is about; empty where the reason is about the whole record.
std::string column_of(const std::string& reason) {
  constexpr std::string_view before = "column '";
  const std::size_t end = reason.rfind("': ");
  if (!reason.starts_with(before) || end == std::string::npos) return {};
  return reason.substr(before.size(), end - before.size());
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// What to set, where the text of a column that is not a number shows it; else empty.
std::string advice_on(std::string_view text, const config::InputSettings& input) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t comma = text.find(',');
  if (input.format != config::Format::csv || input.decimal != '.' || comma == std::string_view::npos) return {};
  if (!is_digits(text.substr(0, comma)) || !is_digits(text.substr(comma + 1))) return {};
  // Three digits behind a comma may be thousands or decimals, so that both readings are named.
  constexpr std::size_t thousands = 3;
  return text.size() - comma - 1 == thousands
             ? "; a comma between thousands is to be taken out; where it is a decimal one, set stream.decimal = \",\""
             : "; set stream.decimal = \",\"";
}

std::string example(const std::string& reason, const decode::SeenLine& seen, const config::InputSettings& input) {
  std::string text = fmt::format("line {}", seen.line);
  if (input.files.size() > 1) text += fmt::format(" of '{}'", seen.file);
  const std::string column = column_of(reason);
  if (!column.empty()) {
    const auto found = decode::text_in(seen, column, input);
    return found && !found->empty() ? fmt::format("{}: '{}'{}", text, *found, advice_on(*found, input)) : text;
  }
  const auto counts = decode::field_counts(seen, input);
  if (!counts || counts->fields == counts->columns) return text;
  return fmt::format("{} has {} field{}, where {} expected", text, counts->fields, counts->fields == 1 ? "" : "s",
                     counts->columns == 1 ? "1 column is" : fmt::format("{} columns are", counts->columns));
}

}  // namespace

std::map<std::string, std::string> examples_of(const Tally& tally, const config::InputSettings& input) {
  // The file is read once more, for all reasons together; seen_lines() takes ordinals that rise.
  std::vector<std::uint64_t> ordinals;
  for (const auto& [reason, refused] : tally.reasons) ordinals.push_back(refused.first.value());
  std::sort(ordinals.begin(), ordinals.end());
  ordinals.erase(std::unique(ordinals.begin(), ordinals.end()), ordinals.end());
  const auto seen = decode::seen_lines(input, ordinals);
  std::map<std::string, std::string> examples;
  for (const auto& [reason, refused] : tally.reasons) {
    const auto found = seen.find(refused.first.value());
    if (found != seen.end()) examples.emplace(reason, example(reason, found->second, input));
  }
  return examples;
}

}  // namespace nustream::check
