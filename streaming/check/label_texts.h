// The texts that stand where a label is read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "nustream/record/schema.h"

namespace nustream::check {

/// Counts texts: the first so many different ones each, the others together. Not private.
class LabelTexts final : public record::TextReader {
 public:
  static constexpr std::size_t texts_max = 32;
  static constexpr std::size_t bytes_max = 64;

  /// The number of the text, from 1 in the order in which they come; 0 of one that is counted with the others.
  double read(std::string_view text) noexcept override;

  struct Count {
    std::uint64_t records = 0;
    std::size_t number = 0;
  };
  /// Without the spaces and tabs around them; longer ones are cut at bytes_max.
  [[nodiscard]] const std::map<std::string, Count>& counts() const noexcept { return counts_; }
  /// How many records had another text.
  [[nodiscard]] std::uint64_t others() const noexcept { return others_; }

 private:
  std::map<std::string, Count> counts_;
  std::uint64_t others_ = 0;
};

}  // namespace nustream::check
