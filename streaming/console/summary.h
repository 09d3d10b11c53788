// The table at the end of a replay, for people and as JSON.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "console/operator_counts.h"
#include "publish/release_json.h"

namespace nustream::console {

/// Where what the run made is kept.
struct Places {  ///< empty: not made yet
  std::string releases;
  std::string state;
  std::string ledger;
  std::string key;      ///< empty where an insecure seed stands in for it
  std::string witness;  ///< empty where none is kept
};

/// What the table says: published values, public settings and step counts; the operator's figures apart.
struct Summary {
  std::string stream;
  std::uint32_t epoch = 0;
  std::uint64_t steps = 0;
  double rho = 0;  ///< spent by the worst record of this epoch
  double rho_limit = 0;
  double ledger_rho = 0;                           ///< over all epochs in the ledger
  std::vector<publish::Epsilons> epsilons;         ///< that rho comes to, at every δ: at least one
  std::vector<publish::Epsilons> ledger_epsilons;  ///< that ledger_rho comes to
  publish::Promise promise;
  std::optional<std::uint64_t> average_from;     ///< empty: no average is asked for
  std::optional<publish::ShownRelease> release;  ///< the last published, in this run or before
  std::string ending;                            ///< what ended it, in a word or two
  OperatorCounts counts;
  RejectsList rejects;
  Places places;
  std::string ranges{};  ///< settings that were measured (config::Config::ranges)
};

/// Prints the table to `out`; figures that depend on data go to standard error, marked as such.
void print_table(const Summary& summary, std::FILE* out);
/// The same as one JSON object, of which nothing depends on data but through the noise: without the counts.
[[nodiscard]] std::string to_json(const Summary& summary);

}  // namespace nustream::console
