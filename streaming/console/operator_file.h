// The file that --operator-json names: what a run tells its operator alone.
#pragma once

#include <string>
#include <string_view>

#include "journal/disk.h"

namespace nustream::console {

/// Made when a run begins, so that a place where it cannot be is told before anything is spent: PATH.new, mode 0600,
/// which gets the name PATH once it holds one whole object. Without a write nothing stays behind, and what was at
/// PATH stays as it was. A report is made the same way, for everyone to read.
class OperatorFile {
 public:
  /// Failure(io) where it cannot be made. An empty path: nothing is asked for, and write() does nothing.
  explicit OperatorFile(std::string path, journal::Audience audience = journal::Audience::operators);
  ~OperatorFile();
  OperatorFile(const OperatorFile&) = delete;
  OperatorFile& operator=(const OperatorFile&) = delete;

  /// Writes one object and a newline, in place of what PATH held. Failure(io).
  void write(std::string_view object);

 private:
  std::string path_;
  journal::Audience audience_;
  std::string next_;
};

}  // namespace nustream::console
