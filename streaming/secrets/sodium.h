// libsodium, ready for use.
#pragma once

#include <sodium.h>

#include "nustream/base/error.h"

namespace nustream::secrets {

/// Lets libsodium choose its code for this processor; cheap when done before. Any thread.
inline void prepare_sodium() {
  NUSTREAM_REQUIRE(sodium_init() >= 0, "libsodium starts");
}

}  // namespace nustream::secrets
