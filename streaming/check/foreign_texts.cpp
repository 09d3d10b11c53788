#include "check/foreign_texts.h"

#include <fmt/format.h>

#include "check/tally.h"
#include "config/unicode.h"
#include "decode/seen_lines.h"

namespace nustream::check {

double ForeignTexts::read(std::string_view text) noexcept {
  constexpr char stand_in = '\x7f';
  if (text.find(stand_in) == std::string_view::npos && config::is_utf8(text)) return 0;
  if (count_++ == 0) first_ = text;
  return 0;
}

std::string ForeignTexts::in_words() const {
  if (count_ == 0) return {};
  const std::string what =
      fmt::format("{} text{} of '{}', such as '{}', {}", with_separators(count_), count_ == 1 ? "" : "s", column_,
                  decode::on_one_line(first_), count_ == 1 ? "is" : "are");
  return config::not_utf8(what);
}

}  // namespace nustream::check
