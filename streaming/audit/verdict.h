// What an audit's finding says of the claim, in sentences.
#pragma once

#include <string>
#include <vector>

#include "audit/finding.h"

namespace nustream::audit {

/// Sentences; none where all was shown.
[[nodiscard]] std::vector<std::string> what_was_not_shown(const Finding& finding);

/// Lines, each with its newline.
[[nodiscard]] std::string verdict_text(const Finding& finding);

}  // namespace nustream::audit
