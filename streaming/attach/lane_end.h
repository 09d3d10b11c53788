// Why a lane does nothing any more.
#pragma once

#include <string>

#include "error.h"

namespace nustream::attach {

/// The reason, and the exit code that stands for it.
struct LaneEnd {
  Exit code;
  std::string reason;  ///< for the operator
};

}  // namespace nustream::attach
