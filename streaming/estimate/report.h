// What an estimate prints at its end, as text for people and as JSON.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/config.h"
#include "console/operator_counts.h"
#include "console/report_parts.h"
#include "engine/table_design.h"
#include "estimate/comparison.h"
#include "nustream/inference/path_status.h"
#include "nustream/inference/runs_status.h"
#include "publish/intervals.h"
#include "publish/release_json.h"

namespace nustream::estimate {

/// The releases of a folder that were made under the settings digest `digest`, oldest first. Throws Failure(io) where
/// they cannot be read.
[[nodiscard]] std::vector<publish::ShownRelease> released_under(const std::string& folder, const std::string& digest);

/// How many runs of `steps` steps are finished: that many releases are of a last step.
[[nodiscard]] std::uint64_t finished_runs(const std::vector<publish::ShownRelease>& path, std::uint64_t steps);

/// What is seen of the path that checkpoints or last iterates of runs lie on.
using SeenStatus = std::variant<inference::PathStatus, inference::RunsStatus>;
[[nodiscard]] inference::Verdict verdict_of(const SeenStatus& status);

/// The status of an estimate from its released iterates alone. Nothing where the releases have their own, which is
/// that of batch means or a sandwich, and for running sums and under a cooldown.
[[nodiscard]] std::optional<SeenStatus> status_along(const config::Config& config,
                                                     const std::vector<publish::ShownRelease>& path);

/// Whether the path has every value that intervals of checkpoints or runs are made of.
[[nodiscard]] bool has_all_values(const config::Config& config, const std::vector<publish::ShownRelease>& path);

/// The intervals of an estimate. The last release has its own for batch means, sandwich and residuals; for the other
/// kinds they are made of checkpoints or last iterates along the path. Nothing where there are too few of those,
/// where `status`, that of status_along(), is not `settled`, or where no intervals are asked for.
[[nodiscard]] std::optional<console::ReportedIntervals> intervals_along(
    const config::Config& config, const std::vector<publish::ShownRelease>& path,
    const std::optional<SeenStatus>& status);

/// Everything that is said about an estimate at its end.
struct Report {
  static constexpr const char* finished = "finished";
  [[nodiscard]] bool is_finished() const { return ending == finished; }

  std::string stream;
  engine::TableDesign design;
  bool of_sums = false;  ///< the model was solved from running sums
  std::string correlation;
  publish::ShownRelease last;
  std::optional<console::ReportedIntervals> intervals;
  std::optional<SeenStatus> status;  ///< status_along()
  std::string ending;                ///< "finished", "interrupted" or "budget reached"
  std::uint64_t finished_runs = 0;
  double rho = 0;                                  ///< ρ of all runs of the estimate, as far as they went
  std::vector<publish::Epsilons> epsilons;         ///< ε of `rho`, at every δ; at least one
  double ledger_rho = 0;                           ///< ρ over all epochs of the folder
  std::vector<publish::Epsilons> ledger_epsilons;  ///< ε of `ledger_rho`
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
/// The parts of the report that are not private, for the operator's file: counts, and answers for comparison.
[[nodiscard]] std::string operator_json(const Report& report);

}  // namespace nustream::estimate
