// `nustream attach` as a child, and what it costs as the system and its operator's listener tell.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "command.h"

namespace nustream::benchmarks {

/// A port that nobody has at present.
[[nodiscard]] std::uint16_t free_port();

/// The running service. Ended by the destructor, in order or by force.
class AttachedService {
 public:
  /// `config`: a file; `more`: of the command line. The operator's listener gets a port of its own where `listens`.
  AttachedService(const std::string& config, std::vector<std::string> more, bool listens);

  /// Sum over the series of a metric of the operator's; 0 before there is one.
  [[nodiscard]] double metric(const std::string& name) const;
  /// SIGTERM, and waits. Throws where it did not end with 0.
  void stop();
  /// Waits until it ends by itself. Throws where it did not end with 0.
  void wait();
  [[nodiscard]] pid_t pid() const noexcept { return command_.pid(); }

 private:
  std::uint16_t port_;
  tests::Command command_;
};

/// Of a process, at one moment.
struct Usage {
  double resident_mib;
  double cpu_seconds;  ///< user and system
  std::size_t descriptors;
};
/// Throws where there is no such process.
[[nodiscard]] Usage usage_of(pid_t process);

/// Makes a key file in the folder; its path.
[[nodiscard]] std::string make_key(const tests::TemporaryFolder& folder);

}  // namespace nustream::benchmarks
