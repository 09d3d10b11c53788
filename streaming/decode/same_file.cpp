// Recognises a file by its device and inode, so that links, other spellings of a path and patterns that meet are
// seen.
#include "decode/same_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <map>

#include <fmt/format.h>

#include "decode/byte_source.h"

namespace nustream::decode {

std::optional<std::pair<std::string, std::string>> same_file(const std::vector<std::string>& files) {
  std::map<std::pair<dev_t, ino_t>, std::string> seen;
  for (const std::string& file : files) {
    struct stat status {};
    const int result = is_standard_input(file) ? ::fstat(STDIN_FILENO, &status) : ::stat(file.c_str(), &status);
    // What comes out of a pipe or a device twice is not the same records twice.
    if (result != 0 || !S_ISREG(status.st_mode)) continue;
    const auto [before, is_new] = seen.try_emplace({status.st_dev, status.st_ino}, file);
    if (!is_new) return std::pair{before->second, file};
  }
  return std::nullopt;
}

void require_different_files(const std::vector<std::string>& files, const NamedIn& named) {
  const auto same = same_file(files);
  // The reader has words of its own for standard input that is named twice.
  if (!same || (is_standard_input(same->first) && is_standard_input(same->second))) return;
  const auto& [one, other] = *same;
  const std::string which = one == other ? fmt::format("'{}' is named twice", one)
                                         : fmt::format("'{}' and '{}' are the same file", one, other);
  throw Failure(named.by_hand ? Exit::usage : Exit::configuration,
                fmt::format("{}{}: each of its records would take part twice and be charged once; name it once{}",
                            named.by_hand ? "" : named.config + ": stream.input: ", which,
                            named.passes ? "; to read it several times: --passes" : ""));
}

}  // namespace nustream::decode
