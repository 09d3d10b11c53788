// Texts of a column that are not UTF-8, so that no text of the settings is equal to them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "config/input.h"
#include "decode/seen_lines.h"
#include "nustream/record/schema.h"

namespace nustream::check {

/// A reader that counts such texts among those that it is given, and keeps the first one. In JSON a control character
/// (0x7f) stands for each byte that is no character, and counts as one. The count is not private.
class ForeignTexts final : public record::TextReader {
 public:
  explicit ForeignTexts(std::string column) : column_(std::move(column)) {}

  double read(std::string_view text) noexcept override;
  /// Looks among `records` for the first text's own bytes, for which a reader of JSON has control characters.
  void find_bytes(std::span<const decode::SeenLine> records, const config::InputSettings& input);

  [[nodiscard]] const std::string& column() const noexcept { return column_; }
  /// "12 texts of 'city', such as 'Z\xfcrich', are not UTF-8: iconv …"; "" where there are none.
  [[nodiscard]] std::string in_words() const;

 private:
  std::string column_;
  std::uint64_t count_ = 0;
  std::string first_;
};

}  // namespace nustream::check
