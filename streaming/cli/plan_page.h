// `plan --report`: what a budget buys, as one file that can be shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/plan_curves.h"
#include "config/config.h"
#include "nustream/privacy/plan.h"

namespace nustream::cli {

/// The command that was typed, without the files beside the plan and without how it is printed.
[[nodiscard]] std::string plan_command(const config::Config& config, const PlanArguments& arguments);

/// One HTML file that refers to no other, about settings that never spend more than `limit`. Its script moves two
/// sliders over figures that stand in the file.
[[nodiscard]] std::string plan_page(const config::Config& config, const config::Mechanism& mechanism, Rho limit,
                                    const std::vector<privacy::SpendRow>& spend, const PlanCurves& curves,
                                    const std::string& command);

}  // namespace nustream::cli
