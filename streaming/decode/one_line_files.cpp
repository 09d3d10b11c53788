// Asks of each file what would be said of it if it were the only one of its input.
#include "decode/one_line_files.h"

#include <algorithm>
#include <vector>

#include "decode/file_kind.h"
#include "decode/first_lines.h"
#include "decode/json_names.h"
#include "decode/one_document.h"
#include "decode/segment_rows.h"
#include "error.h"

namespace nustream::decode {
namespace {

/// What the file is, in a sentence, where it is one line of another kind; else "".
std::string one_line_of(const std::string& path, config::InputSettings settings,
                        const std::vector<std::string>& columns) {
  settings.files = {path};
  FirstContents contents(settings, [&](std::string_view line) {
    return looks_like_record(line, settings) && one_document(line, true, columns, settings, {}).empty();
  });
  const std::optional<FirstContent> first = contents.of(path);
  if (!first || !first->is_one_line) return {};
  return told_of_content(path, [&](const std::string& name) {
    const std::string document = may_be_one_document(*first, columns, settings)
                                     ? one_document(first->bytes, first->is_all, columns, settings, name)
                                     : std::string();
    return document.empty() ? other_kind(*first, settings, name) : document;
  });
}

}  // namespace

std::string files_of_one_line(const config::InputSettings& settings, const record::Schema& schema) try {
  const bool has_segment = std::ranges::any_of(settings.files, is_segment);
  if (settings.files.size() < 2 || has_header(settings) || has_segment) return {};
  const std::vector<std::string> columns = wanted_columns(settings, schema);
  std::vector<std::string> found;
  std::string first;
  for (const std::string& path : settings.files) {
    const std::string told = one_line_of(path, settings, columns);
    if (told.empty()) continue;
    if (found.empty()) first = told;
    found.push_back(path);
  }
  if (found.empty()) return {};
  std::string sentence = std::to_string(found.size()) + " of " + std::to_string(settings.files.size()) +
                         " files are one line each, which was read as one record: " + first;
  constexpr std::size_t named_max = 4;
  for (std::size_t i = 1; i < std::min(found.size(), named_max); ++i) {
    sentence += (i == 1 ? "; likewise '" : ", '") + found[i] + "'";
  }
  if (found.size() > named_max) sentence += " and " + std::to_string(found.size() - named_max) + " more";
  return sentence;
} catch (const Failure&) {
  return {};  // a file went away: a run tells that by itself
}

}  // namespace nustream::decode
