// What an estimate prints at its end, for people and as JSON.
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

struct Report {
  static constexpr const char* finished = "finished";
  [[nodiscard]] bool is_finished() const { return ending == finished; }

  std::string stream;
  engine::TableDesign design;
  bool of_sums = false;  ///< solved from running sums
  std::string correlation;
  publish::ShownRelease last;
  std::optional<console::ReportedIntervals> intervals;
  std::string ending;  ///< "finished", "interrupted" or "budget reached"
  std::uint64_t finished_runs = 0;
  double rho = 0;                                  ///< of the runs that belong together, as far as they went
  std::vector<publish::Epsilons> epsilons;         ///< that rho comes to, at every δ: at least one
  double ledger_rho = 0;                           ///< over all epochs of the folder
  std::vector<publish::Epsilons> ledger_epsilons;  ///< that ledger_rho comes to
  std::optional<double> predicted_stddev;          ///< of the last step
  bool is_private = true;
  std::string folder;
  std::string key_file;
  console::OperatorCounts counts;
  console::RejectsList rejects;
  std::string degeneracy;  ///< for the operator alone
  std::vector<Compared> comparison;
  std::string ranges{};  ///< Config::ranges
};

/// Figures that depend on data without privacy go to standard error or are marked.
void print(const Report& report, std::FILE* out);
[[nodiscard]] std::string to_json(const Report& report);
/// What of it is not private, for the operator's file: counts, and answers that stand beside the estimate.
[[nodiscard]] std::string operator_json(const Report& report);

}  // namespace nustream::estimate
