// What an estimate prints at its end, as text for people and as JSON.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "console/operator_counts.h"
#include "engine/table_design.h"
#include "estimate/comparison.h"
#include "estimate/path.h"

namespace nustream::estimate {

/// All that is told about an estimate at its end.
struct Report {
  static constexpr const char* finished = "finished";
  [[nodiscard]] bool is_finished() const { return ending == finished; }

  std::string stream;
  engine::TableDesign design;
  bool of_sums = false;  ///< the model was solved from running sums
  std::string correlation;
  publish::ShownRelease last;
  std::optional<console::ReportedIntervals> intervals;
  std::string ending;  ///< "finished", "interrupted" or "budget reached"
  std::uint64_t finished_runs = 0;
  double rho = 0;                                  ///< ρ of all runs of the estimate, as far as they went
  std::vector<publish::Epsilons> epsilons;         ///< ε that `rho` comes to, at every δ; at least one
  double ledger_rho = 0;                           ///< ρ over all epochs of the folder
  std::vector<publish::Epsilons> ledger_epsilons;  ///< ε that `ledger_rho` comes to
  std::optional<double> predicted_stddev;          ///< engine::predicted_stddev(), at the last step
  bool is_private = true;
  std::string folder;
  std::string key_file;
  console::OperatorCounts counts;
  console::RejectsList rejects;
  std::string degeneracy;  ///< for the operator alone
  std::vector<Compared> comparison;
  std::string ranges{};  ///< Config::ranges
};

/// Prints the report. Figures that depend on data without privacy are marked, or are left to standard error.
void print(const Report& report, std::FILE* out);
[[nodiscard]] std::string to_json(const Report& report);
/// The parts of it that are not private, for the operator's file: counts, and answers for comparison.
[[nodiscard]] std::string operator_json(const Report& report);

}  // namespace nustream::estimate
