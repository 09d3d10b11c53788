// Texts are counted without the blanks around them. A number stands for each text, so that rows, which hold numbers
// alone, can say which text they had.
#include "check/label_texts.h"

#include <algorithm>
#include <utility>

namespace nustream::check {

double LabelTexts::read(std::string_view text) noexcept {
  constexpr std::string_view spaces = " \t";
  const std::size_t begin = std::min(text.find_first_not_of(spaces), text.size());
  text = text.substr(begin, text.find_last_not_of(spaces) + 1 - begin);
  std::string kept(text.substr(0, bytes_max));
  if (text.size() > bytes_max) kept += "…";
  auto found = counts_.find(kept);
  if (found == counts_.end()) {
    if (counts_.size() == texts_max) {
      ++others_;
      return 0;
    }
    found = counts_.emplace(std::move(kept), Count{0, counts_.size() + 1}).first;
  }
  ++found->second.records;
  return static_cast<double>(found->second.number);
}

}  // namespace nustream::check
