// What a fit prints and keeps: its release, the table for people, and JSON.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fit/columns.h"
#include "fit/fit.h"
#include "nustream/ranges/table_fit.h"
#include "publish/epsilons.h"
#include "publish/json_text.h"

namespace nustream::fit {

/// What counts were made over.
struct ShownExposure {
  std::string column{};    ///< empty: nothing
  double bound = 0;        ///< public: a larger exposure weighs as this one
  bool is_offset = false;  ///< the column holds its logarithm
};

/// The figures of a report. They follow from a fit's releases and public figures alone.
struct Report {
  std::string file;
  std::string target;
  std::string model = "linear";  ///< "linear", "logistic" or "poisson"
  std::uint64_t records = 0;
  std::string weight{};     ///< the column that says how much a record counts; empty: none
  double weight_bound = 0;  ///< its public bound
  ShownExposure exposure{};
  publish::NamedValues estimate;  ///< NaN where it is not determined: a guess stands nowhere
  /// 95%, in the order of `estimate`; empty where they are withheld.
  std::vector<std::pair<double, double>> interval;
  /// Columns of the header that are left out: less than half as many of their values are seen as numbers as of the
  /// target's.
  std::vector<std::string> dropped;
  std::vector<double> dropped_shares{};  ///< the noisy share of numbers in each
  bool is_mean = false;                  ///< no feature was asked for
  bool is_bucket_hidden = false;         ///< a coefficient of a bucket of texts is not determined
  ranges::TableFit fit;
  double rho = 0;
  std::vector<publish::Epsilons> epsilons{};  ///< of this fit alone, at every δ
  double total_rho = 0;                       ///< spent by all fits of the folder
  std::vector<publish::Epsilons> total_epsilons{};
  /// Earlier fits were zero-out, and count with their cost for replace-one neighbours.
  bool counts_others_more = false;
  std::size_t fits = 1;  ///< how many fits the folder has seen, with this one
  EpochId epoch{0};
  std::string digest;
  std::string adjacency;
  bool is_private = true;
  std::string folder;
  std::string key_file;
};

inline constexpr double interval_level = 0.95;

[[nodiscard]] inline bool is_linear(const Report& report) {
  return report.model == "linear";
}

/// Whether there is no feature, so that the answer is the mean of the target.
[[nodiscard]] inline bool is_target_mean(const Report& report) {
  return is_linear(report) && report.estimate.size() == 1;
}

/// Whether the coefficient at this place of the estimate is an answer. It is none where noise hides a direction along
/// which more than a little of it lies.
[[nodiscard]] bool is_determined(const Report& report, std::size_t coefficient);

/// The names of the coefficients that are no answers.
[[nodiscard]] std::vector<std::string> undetermined_names(const Report& report);

/// What the intervals are about, in the words of every output.
[[nodiscard]] const char* covers(const Report& report);

/// Whether the size of the noise is shown beside each coefficient that is determined: where there is no interval.
[[nodiscard]] bool shows_noise(const Report& report);

/// "about 87% (with noise of 9 points)": the noisy share of usable rows.
[[nodiscard]] std::string usable_share(const ranges::TableFit& fit);

/// Names the columns of the header that are left out, each with its noisy share of numbers, such as "c (2%), d
/// (10%)".
[[nodiscard]] std::string left_out(const Report& report);

/// The bound on residuals in units of the target. For a weighted fit it is in those units times the root of a weight,
/// and for counts over an exposure in units of the rate times the root of the exposure. A likelihood's residuals have
/// the units of its counts or labels already.
[[nodiscard]] double residual_bound(const Report& report);
/// That unit in words, as in "in units of the target".
[[nodiscard]] const char* residual_unit(const Report& report);

/// Fills in the estimate and the intervals of `fit`, named by the columns.
void fill_table(const Columns& columns, const ranges::TableFit& fit, Report& report);

/// The release as one line of releases.jsonl.
[[nodiscard]] std::string release_line(const Report& report);
/// Says in a sentence why there is no interval. Contract: report.interval is empty.
[[nodiscard]] std::string why_no_interval(const Report& report);
[[nodiscard]] std::string to_text(const Report& report);
[[nodiscard]] std::string to_json(const Report& report);

/// One HTML file that refers to no other. It shows the answer, its cost, the ranges that were measured, and the
/// command and the settings to copy. Every figure in it is public, as the release is.
[[nodiscard]] std::string page(const Options& options, const Columns& columns, const Report& report);

/// An SVG file of each slope with its interval, times the scale of its column, so that they can be compared.
[[nodiscard]] std::string chart_file(const Report& report);

/// Where a configuration keeps its state, its key and its witness. Empty: at the default places.
struct StatePlaces {
  std::string state{};      ///< state.directory; by default FILE.runs
  std::string directory{};  ///< state.key_directory
  std::string witness{};    ///< state.witness
};

/// The folder of a configuration's runs, named after the configuration: trap.runs for trap.toml. Two configurations
/// of one file then have two ledgers; in one folder the second of them could not go on from the first.
[[nodiscard]] std::string runs_of(std::string config);

/// Why no configuration makes these features, in a sentence that names the option at fault; empty where one does.
[[nodiscard]] std::string why_no_config(const Columns& columns);

/// TOML for `estimate` and `replay`, which begin at the fit's answer. It warns that a run of it spends again.
/// Contract: why_no_config() is empty.
[[nodiscard]] std::string to_config(const Columns& columns, const Report& report, const StatePlaces& places = {});

}  // namespace nustream::fit
