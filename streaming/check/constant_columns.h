// Finds columns that have one value in all of the first records. A run would spend its budget on such a column and
// learn nothing. The findings are not private: they are for the operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nustream/record/batch.h"
#include "nustream/record/schema.h"

namespace nustream::check {

/// Compares the usable rows that it takes with the first of them, number by number. It is for the operator alone, and
/// no part of the run depends on it.
class ConstantColumns {
 public:
  /// With fewer usable rows than these, in_words() says nothing.
  static constexpr std::uint64_t usable_judged = 20;

  explicit ConstantColumns(const record::Schema& schema);

  /// Takes the usable rows of `rows` from row `first` on. The rows are those of the schema.
  void take(const record::RowBatch& rows, std::size_t first = 0);
  /// How many usable rows were taken.
  [[nodiscard]] std::uint64_t usable() const noexcept { return usable_; }

  enum class Of {
    first_records,  ///< of a stream, which goes on
    table,          ///< of all records of the table
  };
  /// "the first 300 usable records all have the same 'x', 'z': …" where a feature, the target or each weight has one
  /// value in all rows. Returns "" where none has, or where there were fewer than usable_judged rows. A feature that
  /// is made of a public list of texts or bins is named only where all features of that list have one value, because
  /// one text may well be absent from the first records. Where there is no intercept, one feature may stand for it:
  /// that feature is not named. `look` is the command that shows more (InputSettings::look).
  [[nodiscard]] std::string in_words(Of of, const std::string& look) const;

 private:
  void compare(const record::RowBatch& rows, std::size_t row);
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool stands_for_intercept(std::size_t feature) const;

  record::Schema schema_;
  std::size_t skipped_;  ///< numbers of a row before those of the features: the intercept
  std::uint64_t usable_ = 0;
  std::vector<double> first_;          ///< the features of the first usable row
  std::vector<std::size_t> constant_;  ///< features that have had one value in all rows so far
  double first_target_ = 0;
  bool target_is_constant_ = true;
  bool weighs_nothing_ = true;
};

}  // namespace nustream::check
