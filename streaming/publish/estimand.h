// What is estimated where limits let in some of the records alone.
#pragma once

#include <string>

#include "nustream/users/limits.h"

namespace nustream::publish {

/// A sentence without a full stop: which records the estimate is of, under the limits of users.
[[nodiscard]] std::string estimand_words(const users::Limits& limits);

}  // namespace nustream::publish
