#include "check/foreign_texts.h"

#include <optional>

#include <fmt/format.h>

#include "check/tally.h"
#include "config/unicode.h"
#include "decode/json_members.h"

namespace nustream::check {
namespace {

constexpr char stand_in = '\x7f';

/// The text as it is shown, with U+FFFD for a byte that only its stand-in is known of.
std::string shown(const std::string& text) {
  std::string known;
  for (const char c : text) known += c == stand_in ? std::string("\xef\xbf\xbd") : std::string(1, c);
  return decode::on_one_line(known);
}

}  // namespace

double ForeignTexts::read(std::string_view text) noexcept {
  if (text.find(stand_in) == std::string_view::npos && config::is_utf8(text)) return 0;
  if (count_++ == 0) first_ = text;
  return 0;
}

void ForeignTexts::find_bytes(std::span<const decode::SeenLine> records, const config::InputSettings& input) {
  if (first_.find(stand_in) == std::string::npos) return;
  for (const decode::SeenLine& record : records) {
    const std::optional<std::string> text = decode::text_in(record, column_, input);
    if (!text) continue;
    std::string as_read;
    decode::copy_as_utf8(*text, as_read);
    if (as_read != first_) continue;
    first_ = *text;
    return;
  }
}

std::string ForeignTexts::in_words() const {
  if (count_ == 0) return {};
  const std::string what = fmt::format("{} text{} of '{}', such as '{}', {}", with_separators(count_),
                                       count_ == 1 ? "" : "s", column_, shown(first_), count_ == 1 ? "is" : "are");
  return config::not_utf8(what);
}

}  // namespace nustream::check
