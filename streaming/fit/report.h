// What a fit says: its release, the table for people, and JSON.
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

/// A function of a fit's releases and of public figures alone.
struct Report {
  std::string file;
  std::string target;
  std::string model = "linear";  ///< or "logistic" or "poisson"
  std::uint64_t records = 0;
  std::string weight{};     ///< how much a record counts; empty: 1
  double weight_bound = 0;  ///< its public bound
  publish::NamedValues estimate;
  std::vector<std::pair<double, double>> interval;  ///< 95%, in the order of estimate; empty where withheld
  std::vector<std::string> dropped;                 ///< columns of the header that are hardly usable
  std::vector<double> dropped_shares{};             ///< of their values that are numbers: noisy
  bool is_mean = false;                             ///< no feature was asked for
  ranges::TableFit fit;
  double rho = 0;
  std::vector<publish::Epsilons> epsilons{};  ///< of this fit, at every δ
  double total_rho = 0;                       ///< of all fits of the folder
  std::vector<publish::Epsilons> total_epsilons{};
  bool counts_others_more = false;  ///< earlier fits were by zero-out, and cost more over these neighbours
  std::size_t fits = 1;             ///< that the folder has seen, this one included
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

/// Whether the coefficient at this place of the estimate is an answer: false where noise hides a direction that it
/// mostly lies along, and its number is a guess.
[[nodiscard]] bool is_determined(const Report& report, std::size_t coefficient);

/// "c (2%), d (10%)": the columns of the header that are left out, with the noisy share of numbers in them.
[[nodiscard]] std::string left_out(const Report& report);

/// Estimate and intervals of `fit`, by the columns' names.
void fill_table(const Columns& columns, const ranges::TableFit& fit, Report& report);

/// One line of releases.jsonl.
[[nodiscard]] std::string release_line(const Report& report);
/// In a sentence. Contract: report.interval is empty.
[[nodiscard]] std::string why_no_interval(const Report& report);
[[nodiscard]] std::string to_text(const Report& report);
[[nodiscard]] std::string to_json(const Report& report);

}  // namespace nustream::fit
