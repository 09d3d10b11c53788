// Warnings about the promise, as entries of the log. A sentence that is found again and again, such as at each
// commit, is told once.
#include "console/warnings.h"

#include <algorithm>

#include "log/log.h"

namespace nustream::console {

void warn(const std::string& sentence) {
  if (!sentence.empty()) log::warning("promise", sentence);
}

void PromiseWarnings::tell(const std::string& sentence) {
  if (sentence.empty() || std::ranges::find(told_, sentence) != told_.end()) return;
  warn(sentence);
  told_.push_back(sentence);
}

void PromiseWarnings::tell(const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) tell(sentence);
}

}  // namespace nustream::console
