// The file that --operator-json names: what a run tells only its operator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "journal/disk.h"

namespace nustream::console {

/// A file that is made when a run begins, so that a place where it cannot be made is reported before anything is
/// spent. It is made as PATH.new with mode 0600 and gets the name PATH once it holds one whole object. Without a
/// write no file stays behind, and what was at PATH stays as it was. A report is made the same way, but readable by
/// everyone.
class OperatorFile {
 public:
  /// Throws Failure(io) where the file cannot be made. An empty path means that none is asked for: write() does
  /// nothing.
  explicit OperatorFile(std::string path, journal::Audience audience = journal::Audience::operators);
  ~OperatorFile();
  OperatorFile(const OperatorFile&) = delete;
  OperatorFile& operator=(const OperatorFile&) = delete;

  /// Writes one object and a newline in place of what PATH held. Throws Failure(io).
  void write(std::string_view object);

 private:
  std::string path_;
  journal::Audience audience_;
  std::string next_;
};

/// A file that the command line names, with the option that names it.
struct NamedFile {
  std::string_view option;
  std::string path;  ///< empty: the option was not given
};
/// Throws Failure(usage) where one of the files lies in the state folder: it could take the place of the releases,
/// the ledger or the state, and a backup of the folder would hold it.
void require_outside(const std::string& state_folder, const std::vector<NamedFile>& files);

/// Throws Failure(io) where `path` is there already or cannot be made, so that a command can refuse it before
/// anything is spent. Leaves no file behind, and does nothing for an empty path.
void require_new_file(const std::string& path);
/// Writes the file with mode 0600. Throws Failure(io), whose message ends with `what_stays`.
void write_new_file(const std::string& path, const std::string& text, const std::string& what_stays);

}  // namespace nustream::console
