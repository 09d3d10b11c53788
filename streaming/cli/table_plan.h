// `nustream plan` for a whole table, and the stages of any plan.
#pragma once

#include <cstdint>
#include <string>

#include "cli/commands.h"
#include "config/mechanism.h"

namespace nustream::cli {

/// What a budget buys over a table of --records records: the noise of every stage, and what it leaves in the last
/// iterate at this and other numbers of steps. Failure(usage) without --records.
[[nodiscard]] Exit plan_table(const PlanArguments& arguments);

/// The same as JSON, with --records.
[[nodiscard]] std::string table_plan_json(const PlanArguments& arguments);

/// Of noise that is begun anew: ", begun anew every N steps"; else nothing.
[[nodiscard]] std::string anew_text(const noise::Correlation& correlation);
/// ,"restarts_every":N likewise
void append_restarts(const noise::Correlation& correlation, std::string& out);

/// One line a stage: what it clips, what share of ρ it has, and its noise on the mean gradient of a minibatch.
void print_stages(const config::Mechanism& mechanism, std::uint64_t minibatch);
/// ,"stages":[…]
void append_stages(const config::Mechanism& mechanism, std::uint64_t minibatch, std::string& out);

}  // namespace nustream::cli
