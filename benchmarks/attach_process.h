// Runs `nustream attach` as a child, and tells what it costs according to the system and to its operator's listener.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "command.h"

namespace nustream::benchmarks {

/// A port that nobody uses at present.
[[nodiscard]] std::uint16_t free_port();

/// The running service. The destructor ends it, in order or by force.
class AttachedService {
 public:
  /// `config` is a file, and `more` is added to the command line. If it `listens`, the operator's listener gets a
  /// port of its own.
  AttachedService(const std::string& config, std::vector<std::string> more, bool listens);

  /// The sum over the series of one of the operator's metrics; 0 before it exists.
  [[nodiscard]] double metric(const std::string& name) const;
  /// Sends SIGTERM and waits. Throws where the service did not end with 0.
  void stop();
  /// Waits until the service ends by itself. Throws where it did not end with 0.
  void wait();
  [[nodiscard]] pid_t pid() const noexcept { return command_.pid(); }

 private:
  std::uint16_t port_;
  tests::Command command_;
};

/// What a process uses at one moment.
struct Usage {
  double resident_mib;
  double cpu_seconds;  ///< user and system time
  std::size_t descriptors;
};
/// Throws where there is no such process.
[[nodiscard]] Usage usage_of(pid_t process);

/// Makes a key file in the folder and returns its path.
[[nodiscard]] std::string make_key(const tests::TemporaryFolder& folder);

}  // namespace nustream::benchmarks
