// `plan --report`: what a budget buys as one file to show.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/plan_curves.h"
#include "config/config.h"
#include "nustream/privacy/plan.h"

namespace nustream::cli {

/// What was typed, but for files beside the plan and how it is printed.
[[nodiscard]] std::string plan_command(const config::Config& config, const PlanArguments& arguments);

/// One HTML file that refers to no other; its script moves two sliders over figures that stand in the file.
[[nodiscard]] std::string plan_page(const config::Config& config, const config::Mechanism& mechanism,
                                    const std::vector<privacy::SpendRow>& spend, const PlanCurves& curves,
                                    const std::string& command);

}  // namespace nustream::cli
