// An audit's finding as one file to show, and as a picture.
#pragma once

#include <string>

#include "audit/audit.h"

namespace nustream::audit {

/// One HTML file that refers to no other: what was proven of ε and μ against what is claimed, the games, and the
/// command and the settings to copy. Nothing of it depends on data: games are played over records of their own.
[[nodiscard]] std::string page(const config::Config& config, const Options& options, const Finding& finding);

/// An SVG file of the same bounds.
[[nodiscard]] std::string chart_file(const config::Config& config, const Options& options, const Finding& finding);

}  // namespace nustream::audit
