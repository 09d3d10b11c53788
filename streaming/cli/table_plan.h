// `nustream plan` for a whole table, and the stages of any plan.
#pragma once

#include <cstdint>
#include <string>

#include "cli/commands.h"
#include "config/mechanism.h"
#include "publish/json_writer.h"

namespace nustream::cli {

/// Prints what a budget buys over a table of --records records: the noise of every stage, and what it leaves in the
/// last iterate at this and other numbers of steps. Throws Failure(usage) without --records.
[[nodiscard]] Exit plan_table(const PlanArguments& arguments);

/// The plan as JSON; it needs --records, too.
[[nodiscard]] std::string table_plan_json(const PlanArguments& arguments);

/// ", begun anew every N steps" for noise that restarts; else "".
[[nodiscard]] std::string anew_text(const noise::Correlation& correlation);
/// Writes "restarts_every":N for such noise; else nothing.
void append_restarts(const noise::Correlation& correlation, publish::JsonWriter& json);

/// Prints one line for each stage: what it clips, what share of ρ it has, and its noise on the mean gradient of a
/// minibatch.
void print_stages(const config::Mechanism& mechanism, std::uint64_t minibatch);
/// Writes "stages":[…].
void append_stages(const config::Mechanism& mechanism, std::uint64_t minibatch, publish::JsonWriter& json);

}  // namespace nustream::cli
