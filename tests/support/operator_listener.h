// The operator's listener of a service that a test runs.
#pragma once

#include <string>

#include "command.h"
#include "free_port.h"

namespace nustream::tests {

inline std::string some_operator_address() {
  return loopback(free_port());
}

/// The body of one of its pages; empty where nobody answers.
inline std::string operator_page(const std::string& address, const std::string& path) {
  return run_command("/usr/bin/curl", {"--silent", "--max-time", "60", "--noproxy", "*", "http://" + address + path})
      .out;
}

}  // namespace nustream::tests
