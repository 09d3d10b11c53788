// `nustream fit`: a private model of a whole file without a configuration; the ranges are measured privately.
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

/// How the records are laid out in the file.
struct Layout {
  std::string format;  ///< "csv" or "jsonl"; empty: by the file's name
  /// Of a CSV, as in stream.delimiter; empty: a comma, or a tab by the file's name.
  std::string delimiter;
  std::string decimal{};               ///< of a CSV: "." or ","; empty: "."
  std::string comment{};               ///< lines above the header that begin with it are skipped; empty: none
  std::uint64_t skip_lines = 0;        ///< how many lines above the header are skipped
  std::vector<std::string> columns{};  ///< lists of names for a file without a header; empty: the file has a header
};

/// Where the fit is shown, besides the state folder.
struct Output {
  std::string write_config;  ///< file for a configuration with the ranges that were found
  std::string report{};      ///< file for the fit as a page; empty: none
  std::string chart{};       ///< file for a picture of the slopes; empty: none
  bool quiet = false;        ///< print no table
  bool json = false;
};

/// Over how long a time, or over how many things, a record counted.
struct Exposure {
  std::string column{};  ///< a column of E, or a map of one; empty: none
  std::string offset{};  ///< in its place a column of ln E, or a map of one
  double bound = 0;      ///< public: a larger E weighs as this one. It is above 0 where there is an exposure.
};

/// The options of the command line.
struct Options {
  std::string file;
  std::string target;  ///< a column, or a map of it such as log(column) (input.h)
  /// Lists separated by commas; empty: every column that the header names.
  std::vector<std::string> features;
  std::uint32_t hash_buckets = 0;   ///< for hash(column) among the features; 0: none is given
  std::vector<std::string> bins{};  ///< entries such as age=18,30,45: each interval is a feature (bins.h)
  /// Lists of columns with bins or with a list of texts, whose other values have a feature too.
  std::vector<std::string> others{};
  bool mean = false;                             ///< fit the mean of the target, without features
  std::optional<ranges::Likelihood> likelihood;  ///< empty: least squares
  /// A column, or a map of it, that says how much a record counts; empty: 1.
  std::string weight{};
  /// Public bound: a larger weight counts as this one. It is above 0 where there is a weight.
  double weight_bound = 0;
  Exposure exposure{};  ///< of counts
  double rho = 0.1;
  std::vector<double> deltas{1e-6};  ///< where ε is reported, up to most_deltas
  std::optional<double> budget;      ///< what all fits of the folder together may spend
  bool replace_one = false;
  Layout layout;
  std::string state;  ///< folder of the ledger; empty: FILE.fit
  /// File of a budget that several folders share (folder/account_share.h); empty: none.
  std::string account{};
  std::string key_directory;
  std::string witness;
  Output output;
  std::optional<std::uint64_t> insecure_seed;
  std::optional<double> min_usable{};  ///< with a smaller share of usable records nothing is spent
  bool look = false;                   ///< say what can be used, for the operator alone, and spend nothing
};

/// Reads the file, fits, commits spend and result in one step, and then prints them: nothing that depends on a record
/// leaves before that commit. Throws Failure.
[[nodiscard]] Exit run(const Options& options);

}  // namespace nustream::fit
