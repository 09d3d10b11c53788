// An audit's finding as one file to show, and as a picture.
#pragma once

#include <string>

#include "audit/audit.h"

namespace nustream::audit {

/// One HTML file that refers to no other. It shows what was proven of ε and μ against what is claimed, the games, and
/// the command and the settings to copy. It depends on no data: games are played over records of the audit's own.
[[nodiscard]] std::string page(const config::Config& config, const Options& options, const Finding& finding);

/// An SVG file of the same bounds.
[[nodiscard]] std::string chart_file(const config::Config& config, const Options& options, const Finding& finding);

}  // namespace nustream::audit
