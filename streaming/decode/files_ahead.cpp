#include "decode/files_ahead.h"

#include <span>

#include "decode/first_lines.h"

namespace nustream::decode {

std::string hint_for_lines_above(std::string_view line, const config::InputSettings& settings) {
  const bool is_like_a_comment = line.find_first_of("#%!") == 0 && settings.comment.empty();
  if (!is_like_a_comment) return {};
  const std::string mark(line.substr(0, 1));
  return " (if lines that begin with '" + mark + "' stand above the header, set stream.comment = \"" + mark +
         "\", or stream.skip_lines to their number)";
}

void require_files_ahead(const config::InputSettings& settings, LineDecoder& decoder) {
  for (const std::string& path : std::span(settings.files).subspan(1)) {
    const std::optional<FirstContent> first = first_content(path, settings, look_bytes);
    if (!first) continue;
    const std::string_view content = behind_skipped(first->bytes, settings);
    if (content.empty() && first->is_all) throw empty_file(path, settings, decoder.has_header());
    const std::size_t end = content.find('\n');
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
    decoder.begin_file(header, path);
  } catch (const Failure& failure) {
    throw Failure(failure.code(), failure.what() + hint_for_lines_above(header, settings));
  }
}

}  // namespace nustream::decode
