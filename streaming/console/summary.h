// The table at the end of a replay, as text for people and as JSON.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "console/operator_counts.h"
#include "publish/release_json.h"

namespace nustream::console {

/// Where the files that the run made are kept.
struct Places {  ///< empty: not made yet
  std::string releases;
  std::string state;
  std::string ledger;
  std::string key;      ///< empty where an insecure seed stands in for the key
  std::string witness;  ///< empty where no witness is kept
};

/// What the table shows: published values, public settings and step counts. The table leaves out the operator's
/// figures.
struct Summary {
  std::string stream;
  std::uint32_t epoch = 0;
  std::uint64_t steps = 0;
  double rho = 0;  ///< spent by this epoch, for the record that it costs most
  double rho_limit = 0;
  double ledger_rho = 0;                           ///< spent over all epochs in the ledger
  std::vector<publish::Epsilons> epsilons;         ///< what rho comes to at every δ; at least one
  std::vector<publish::Epsilons> ledger_epsilons;  ///< what ledger_rho comes to
  publish::Promise promise;
  std::optional<std::uint64_t> average_from;     ///< empty where no average is asked for
  std::optional<publish::ShownRelease> release;  ///< the last that was published, in this run or before
  std::string ending;                            ///< what ended the run, in a word or two
  OperatorCounts counts;
  RejectsList rejects;
  Places places;
  std::string ranges{};  ///< settings that were measured (config::Config::ranges)
};

/// Prints the table to `out`.
void print_table(const Summary& summary, std::FILE* out);
/// The table as one JSON object. It leaves out the counts, so its only dependence on data is through noise.
[[nodiscard]] std::string to_json(const Summary& summary);

}  // namespace nustream::console
