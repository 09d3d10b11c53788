// What ends a command: one line for the reader and the documented exit code (docs/exit-codes.md).
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <system_error>

namespace nustream {

/// Exit codes of every command; the meanings are a public interface.
enum class Exit : int {
  done = 0,
  usage = 64,        ///< the command line
  data = 65,         ///< input or state contradicts what was committed
  unusable = 66,     ///< too few of the records can be used, by an operator's own bound
  unavailable = 69,  ///< a broker, past its deadline
  internal = 70,
  exhausted = 73,  ///< budget or horizon reached
  io = 74,
  locked = 75,      ///< state in use by another run
  permission = 77,  ///< key or permission
  configuration = 78,
  interrupted = 130,  ///< resumable
};

/// A failure at an edge of the service: what, where, and what to do, in one line without a data value.
class Failure : public std::runtime_error {
 public:
  Failure(Exit code, const std::string& line) : std::runtime_error(line), code_(code) {}
  [[nodiscard]] Exit code() const noexcept { return code_; }

 private:
  Exit code_;
};

/// A failure "FOUND; ADVICE" whose advice is for most commands. A caller whose users go on in another way puts its
/// own in the place (located.h, with_own_advice()).
class AdvisedFailure : public Failure {
 public:
  AdvisedFailure(Exit code, const std::string& found, const std::string& advice)
      : Failure(code, found + "; " + advice), found_size_(found.size()) {}
  [[nodiscard]] std::string found() const { return std::string(what(), found_size_); }

 private:
  std::size_t found_size_;
};

/// "cannot ATTEMPT PATH: REASON; ADVICE", for a system call that left `error` in errno.
[[nodiscard]] inline Failure system_failure(Exit code, const std::string& attempt, const std::string& path, int error,
                                            const std::string& advice) {
  return {code, "cannot " + attempt + " " + path + ": " + std::generic_category().message(error) + "; " + advice};
}

}  // namespace nustream
