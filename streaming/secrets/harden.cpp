#include "secrets/harden.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <cerrno>

#include "error.h"

namespace nustream::secrets {

void harden_process() {
  const rlimit none{0, 0};
  // The limit alone would not stop a core_pattern that pipes to a program; the dumpable flag does.
  if (::setrlimit(RLIMIT_CORE, &none) != 0 || ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
    throw system_failure(Exit::permission, "turn off", "core dumps", errno, "allow setrlimit and prctl");
  }
}

}  // namespace nustream::secrets
