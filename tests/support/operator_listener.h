// The operator's listener of a service that a test runs.
#pragma once

#include <random>
#include <string>

#include "command.h"

namespace nustream::tests {

/// An address that most likely nobody listens on.
inline std::string some_operator_address() {
  return "127.0.0.1:" + std::to_string(30'000 + std::random_device{}() % 2'500);
}

/// The body of one of its pages; empty where nobody answers.
inline std::string operator_page(const std::string& address, const std::string& path) {
  return run_command("/usr/bin/curl", {"--silent", "--max-time", "10", "--noproxy", "*", "http://" + address + path})
      .out;
}

}  // namespace nustream::tests
