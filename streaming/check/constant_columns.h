// Finds what is the same in all of the first records: a run spends its budget and learns nothing of it. None of it is
// private.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nustream/record/batch.h"
#include "nustream/record/schema.h"

namespace nustream::check {

/// Compares the usable rows that it takes with the first of them, number by number. It is for the operator alone, and
/// decides nothing.
class ConstantColumns {
 public:
  /// Fewer usable rows than these say nothing.
  static constexpr std::uint64_t usable_judged = 20;

  explicit ConstantColumns(const record::Schema& schema);

  /// Takes the usable rows of `rows` from row `first` on. The rows are those of the schema.
  void take(const record::RowBatch& rows, std::size_t first = 0);
  /// How many usable rows were taken.
  [[nodiscard]] std::uint64_t usable() const noexcept { return usable_; }

  enum class Of {
    first_records,  ///< of a stream, which goes on
    table,          ///< of all records there are
  };
  /// "the first 300 usable records all have the same 'x', 'z': …" where a feature, the target or each weight is the
  /// same in all rows; else, or where there were fewer than usable_judged, "". A feature that is made of a public
  /// list of texts or bins is named only where all features of that list are the same, because one text may well be
  /// absent from the first records. Where there is no intercept, one feature may stand for it: it is not named.
  [[nodiscard]] std::string in_words(Of of) const;

 private:
  void compare(const record::RowBatch& rows, std::size_t row);
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool stands_for_intercept(std::size_t feature) const;

  record::Schema schema_;
  std::size_t skipped_;  ///< numbers of a row before those of the features: the intercept
  std::uint64_t usable_ = 0;
  std::vector<double> first_;          ///< the features of the first usable row
  std::vector<std::size_t> constant_;  ///< features that are the same in all rows so far
  double first_target_ = 0;
  bool target_is_constant_ = true;
  bool weighs_nothing_ = true;
};

}  // namespace nustream::check
