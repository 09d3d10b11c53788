// `nustream fit`: a private model of a whole file without a configuration, its ranges measured privately.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "error.h"
#include "nustream/base/units.h"
#include "nustream/privacy/participation.h"
#include "nustream/ranges/likelihood_fit.h"

namespace nustream::fit {

inline constexpr std::size_t most_deltas = 8;

/// What the command line says.
struct Options {
  std::string file;
  std::string target;                            ///< a column, or log(column) and the like (columns.h)
  std::vector<std::string> features;             ///< lists with commas; empty: every column that the header names
  bool mean = false;                             ///< of the target, without features
  std::optional<ranges::Likelihood> likelihood;  ///< nothing: least squares
  std::string weight{};                          ///< a column, or a map of it: how much a record counts; empty: 1
  double weight_bound = 0;                       ///< public: a larger weight counts as this; > 0 where there is one
  double rho = 0.1;
  std::vector<double> deltas{1e-6};  ///< at which ε is told, up to most_deltas
  std::optional<double> budget;      ///< what all fits of the folder together may spend
  bool replace_one = false;
  std::string format;                  ///< "csv" or "jsonl"; empty: by the file's name
  std::string delimiter;               ///< of CSV, as stream.delimiter; empty: a comma, or by the file's name a tab
  std::string decimal{};               ///< of CSV: . or ,; empty: a dot
  std::string comment{};               ///< lines above the header that begin with it are passed; empty: none
  std::uint64_t skip_lines = 0;        ///< above the header
  std::vector<std::string> columns{};  ///< lists of names, where the file has no header; empty: it has one
  std::string state;                   ///< folder of the ledger; empty: FILE.fit
  std::string account{};               ///< file of a budget that others share (folder/account_share.h); empty: none
  std::string key_directory;
  std::string witness;
  std::string write_config;  ///< file for a configuration with the ranges that were found
  std::optional<std::uint64_t> insecure_seed;
  std::string report{};                ///< file for the fit as a page; empty: none
  std::string chart{};                 ///< file for a picture of its slopes; empty: none
  std::optional<double> min_usable{};  ///< a smaller share of usable records is refused before anything is spent
  bool look = false;                   ///< tells its operator what can be used, and spends nothing
  bool quiet = false;                  ///< no table
  bool json = false;
};

/// Reads the file, fits, commits spend and result in one step, and prints them: nothing that depends on a record
/// leaves before. Throws Failure.
[[nodiscard]] Exit run(const Options& options);

}  // namespace nustream::fit
