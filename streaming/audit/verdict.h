// What an audit's finding says of the claim, in sentences.
#pragma once

#include <string>
#include <vector>

#include "audit/finding.h"

namespace nustream::audit {

/// The reasons why the claim was not shown, as sentences; empty where all was shown.
[[nodiscard]] std::vector<std::string> what_was_not_shown(const Finding& finding);

/// The verdict as lines, each with its newline.
[[nodiscard]] std::string verdict_text(const Finding& finding);

}  // namespace nustream::audit
