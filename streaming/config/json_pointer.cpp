// Finds the keys that name columns, wherever they stand in the settings, so that a refusal has the place of its key.
#include "config/json_pointer.h"

#include <string>

namespace nustream::config {
namespace {

void check_column(const Section& section, std::string_view key) {
  if (!section.is_text(key)) return;
  const std::string_view why = why_no_pointer(*section.text(key));
  if (why.empty()) return;
  section.refuse(key, "a JSON pointer where the name begins with a slash, and " + std::string(why));
}

/// Checks the column of a feature, and those of the two terms of an interaction.
void check_feature(const Section& section) {
  check_column(section, "column");
  for (const Section& term : section.tables("of")) check_column(term, "column");
}

}  // namespace

std::string_view why_no_pointer(std::string_view column) {
  if (!column.starts_with('/')) return {};
  // It would name the member with the empty name, which nobody means.
  if (column == "/") return "this one names no member: write the way to it, such as /payload/after/x";
  for (std::size_t at = column.find('~'); at != std::string_view::npos; at = column.find('~', at + 1)) {
    const char escaped = at + 1 < column.size() ? column[at + 1] : '\0';
    if (escaped != '0' && escaped != '1') return "a ~ in it is written ~0, a slash in a name ~1";
  }
  return {};
}

void check_pointers(const Section& root, const InputSettings& input) {
  if (!has_members(input)) return;
  for (const char* const key : {"features", "instruments", "endogenous"}) {
    for (const Section& section : root.tables(key)) check_feature(section);
  }
  check_feature(root.section("target"));
  for (const char* const key : {"weight", "exposure"}) check_column(root.section(key), "column");
  check_column(root.section("stream"), "time");
  check_column(root.section("privacy"), "user");
}

}  // namespace nustream::config
