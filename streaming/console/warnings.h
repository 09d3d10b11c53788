// Tells the operator what weakens the promise.
#pragma once

#include <string>
#include <vector>

namespace nustream::console {

/// Prints a sentence on standard error; does nothing for "".
void warn(const std::string& sentence);

/// Prints each sentence once on standard error, even with --quiet: scheduled jobs run with --quiet, and the sentence
/// may be the only sign of a folder that was restored. To be used by one thread.
class PromiseWarnings {
 public:
  void tell(const std::string& sentence);  ///< does nothing for ""
  void tell(const std::vector<std::string>& sentences);

 private:
  std::vector<std::string> told_;
};

}  // namespace nustream::console
