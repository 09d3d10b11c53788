// What weakens the promise, told to the operator.
#pragma once

#include <string>
#include <vector>

namespace nustream::console {

/// Prints a sentence on standard error; "" is none.
void warn(const std::string& sentence);

/// Prints each sentence once on standard error, whatever --quiet says: jobs run with it, and the sentence may be all
/// that tells of a folder that was restored. One thread.
class PromiseWarnings {
 public:
  void tell(const std::string& sentence);  ///< "" is none
  void tell(const std::vector<std::string>& sentences);

 private:
  std::vector<std::string> told_;
};

}  // namespace nustream::console
