// The exception for a wrong parameter, and what a broken contract does: it ends the process. A process that
// went on could show what the contract protects. Contracts stay in release builds.
#include "nustream/base/error.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace nustream {

InvalidParameter::InvalidParameter(std::string name, std::string value, std::string allowed)
    : std::invalid_argument(name + " = " + value + " is not allowed: " + allowed),
      name_(std::move(name)),
      value_(std::move(value)),
      allowed_(std::move(allowed)) {}

void contract_violated(const char* what, const char* file, int line) noexcept {
  std::fprintf(stderr, "nustream: contract violated: %s (%s:%d)\n", what, file, line);
  std::abort();
}

}  // namespace nustream
