// Counts the texts in the column that a label is read from.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "nustream/record/schema.h"

namespace nustream::check {

/// Counts each of the first `texts_max` different texts by itself, and all others together. The counts are not
/// private.
class LabelTexts final : public record::TextReader {
 public:
  static constexpr std::size_t texts_max = 32;
  static constexpr std::size_t bytes_max = 64;

  /// Counts the text and returns its number: from 1 in the order in which texts come, or 0 for a text that is counted
  /// with the others.
  double read(std::string_view text) noexcept override;

  struct Count {
    std::uint64_t records = 0;
    std::size_t number = 0;
  };
  /// The counted texts, without the spaces and tabs around them; a longer text is cut at bytes_max, and "…" stands
  /// behind it.
  [[nodiscard]] const std::map<std::string, Count>& counts() const noexcept { return counts_; }
  /// How many records had one of the other texts.
  [[nodiscard]] std::uint64_t others() const noexcept { return others_; }

 private:
  std::map<std::string, Count> counts_;
  std::uint64_t others_ = 0;
};

}  // namespace nustream::check
