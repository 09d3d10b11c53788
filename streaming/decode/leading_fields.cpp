#include "decode/leading_fields.h"

#include <string>

#include "decode/csv_line.h"

namespace nustream::decode {
namespace {

constexpr const char* open_quote =
    "a quotation mark is not closed before the next delimiter, as it must be where the target alone is private";

// What is wrong with a field on its own; null where nothing is.
const char* fault_in(std::string_view field, char delimiter, std::vector<std::string_view>& split,
                     std::string& unquoted) {
  if (field.find('\0') != std::string_view::npos) return description(CsvFault::binary);
  if (!field.starts_with('"')) return nullptr;
  const CsvFault fault = split_csv_line(field, delimiter, 1, split, unquoted);
  if (fault == CsvFault::none) return nullptr;
  return fault == CsvFault::open_quote ? open_quote : description(fault);
}

}  // namespace

const char* split_leading_fields(std::string_view line, char delimiter, std::size_t count, LeadingFields& found) {
  found.fields.clear();
  found.rest = line;
  while (found.fields.size() < count) {
    if (!found.rest) return too_few_fields;
    const std::string_view rest = *found.rest;
    const std::size_t end = rest.find(delimiter);
    found.fields.push_back(rest.substr(0, end));
    found.rest = end == std::string_view::npos ? std::nullopt : std::optional(rest.substr(end + 1));
  }
  std::vector<std::string_view> split;
  std::string unquoted;
  for (const std::string_view field : found.fields) {
    if (const char* const fault = fault_in(field, delimiter, split, unquoted)) return fault;
  }
  return nullptr;
}

}  // namespace nustream::decode
