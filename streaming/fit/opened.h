// The file of a fit before any private measurement of it, and what the operator is told about it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/tally.h"
#include "error.h"
#include "fit/columns.h"
#include "nustream/ranges/table_fit.h"

namespace nustream::fit {

/// The numbers of a file; NaN where a value cannot be read.
struct FileTable {
  std::size_t features = 0;
  std::vector<double> x;  ///< row-major
  std::vector<double> y;
  /// Empty where records have neither weight nor exposure. A negative weight counts as unreadable. A count over an
  /// exposure E is a rate in `y`, and weighs E, up to its bound, times the weight.
  std::vector<double> weights;
  ranges::PublicUnits units{};  ///< the bounds of weight and exposure
  /// Why values could not be read: one tally for each feature, one for the target, and then one for the weight and
  /// one for the exposure, where there are such. For the operator alone.
  std::vector<check::Tally> unread{};

  [[nodiscard]] ranges::Table view() const noexcept { return {features, x, y, weights, {}, units}; }
};

/// Reads the file several times, once for each column. Throws as the reader does, and Failure(data) where the file
/// changes meanwhile.
[[nodiscard]] FileTable read_file(const Columns& columns);

/// How much of a file can be used.
struct Look {
  std::uint64_t records = 0;
  std::uint64_t usable = 0;          ///< usable under the columns that are listed, or that mostly hold numbers
  std::vector<std::string> lines{};  ///< a sentence for each thing that cannot be used, with its cure
};

[[nodiscard]] Look look_at(const Options& options, const Columns& columns, const FileTable& table);

/// Why a column of the table has so few numbers, and the cure. After the features, the next column is the target.
[[nodiscard]] std::string why_unread(const Columns& columns, const FileTable& table, std::size_t column);

/// Throws Failure(unusable) where fewer records than --min-usable asks for can be used. The message is for the
/// operator alone.
void require_usable(const Options& options, const Look& look);

struct Opened {
  Columns columns;
  FileTable table;
  Look look;
};

/// Reads the whole file. Throws as columns_of() and read_file() do, in the words of the options, and Failure(data)
/// where the file holds no records.
[[nodiscard]] Opened open_table(const Options& options);

/// Prints what --look asks for on standard output, marked as not private. Throws as require_usable() does.
[[nodiscard]] Exit print_look(const Options& options, const Look& look);

/// Says on standard error, marked as not private, why columns are not in the answer or why there is no answer. It
/// does not repeat what was said before the fit. It never throws, because the spend is committed by then.
void say_why_left_out(const Opened& input, const ranges::TableFit& fit);

}  // namespace nustream::fit
