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

/// How many lanes run in an instance.
inline std::size_t lanes_of(const std::string& address) {
  const std::string page = operator_page(address, "/api/v1/state");
  std::size_t running = 0;
  for (std::size_t at = 0; (at = page.find("\"state\":\"running\"", at)) != std::string::npos; ++at) ++running;
  return running;
}

}  // namespace nustream::tests
