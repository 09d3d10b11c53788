// A dry run's findings as text for people and as JSON.
#pragma once

#include <cstdio>
#include <string>

#include "check/findings.h"

namespace nustream::check {

/// What every output of a dry run says about itself.
inline constexpr const char* not_private =
    "NOT PRIVATE: what follows was read from the data, without noise; it is for the operator alone, and settings "
    "chosen "
    "by looking at it are not covered by the promise";

void print(const Findings& findings, std::FILE* out);
/// The findings as one object, which begins with "private":false.
[[nodiscard]] std::string to_json(const Findings& findings);

}  // namespace nustream::check
