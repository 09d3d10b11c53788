#include "check/label_texts.h"

#include <algorithm>

namespace nustream::check {

double LabelTexts::read(std::string_view text) noexcept {
  constexpr std::string_view spaces = " \t";
  const std::size_t begin = std::min(text.find_first_not_of(spaces), text.size());
  text = text.substr(begin, text.find_last_not_of(spaces) + 1 - begin).substr(0, bytes_max);
  const auto found = counts_.find(std::string(text));
  if (found != counts_.end()) {
    ++found->second;
  } else if (counts_.size() < texts_max) {
    counts_.emplace(text, 1);
  } else {
    ++others_;
  }
  return 0;
}

}  // namespace nustream::check
