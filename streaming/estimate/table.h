// A whole table in memory. It is read once, into rows of doubles that are not copied again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "console/operator_counts.h"
#include "decode/reader.h"
#include "folder/input_witness.h"
#include "nustream/inference/least_squares.h"
#include "nustream/record/batch.h"

namespace nustream::estimate {

/// A growing array of doubles. When it grows, the kernel moves it by changing page tables. So nothing is copied.
class GrowingColumn {
 public:
  GrowingColumn() = default;
  ~GrowingColumn();
  GrowingColumn(GrowingColumn&& other) noexcept;
  GrowingColumn& operator=(GrowingColumn&&) = delete;

  /// Appends `values`. Throws Failure(internal) where the machine has no memory left.
  void append(std::span<const double> values);
  void append_zeros(std::size_t count);
  [[nodiscard]] std::span<const double> values() const noexcept { return {data_, size_}; }

 private:
  void reserve(std::size_t size);

  double* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// Rows as config.schema makes them. A record that cannot be used is a row of zeros. Where features are public and
/// only its target cannot be used, the row keeps its features, and its target is NaN.
struct Table {
  std::size_t dimension = 0;
  GrowingColumn x;  ///< row-major
  GrowingColumn y;
  std::vector<record::RowUser> users;  ///< the user of each row, where the unit is the user; else empty
  GrowingColumn weights;               ///< the weight of each row, where rows have weights; else empty
  console::OperatorCounts counts;
  std::string times;         ///< for the operator: odd_times() of the first records
  std::string constant;      ///< for the operator: names columns with one value in all usable records
  std::string reject_lines;  ///< lines for rejects.jsonl about the first rejects, where they are asked for
  bool rejects_cut = false;  ///< true where there are more rejects than `reject_lines` lists

  [[nodiscard]] std::size_t rows() const noexcept { return y.values().size(); }
  /// `count` rows from row `first` on.
  [[nodiscard]] record::RowSlice slice(std::size_t first, std::size_t count) const noexcept {
    return {dimension,
            count,
            x.values().data() + first * dimension,
            y.values().data() + first,
            nullptr,
            users.empty() ? nullptr : users.data() + first,
            weights.values().empty() ? nullptr : weights.values().data() + first};
  }
  [[nodiscard]] inference::TableView view() const noexcept { return {dimension, x.values(), y.values()}; }
  /// Appends rows of zeros, whose gradient is zero, until the number of rows is a multiple of `rows`.
  void pad_to_multiple_of(std::size_t rows);
};

/// Recognises a table at a resume, by all of its rows and by which of them belong to one user. To a session, the
/// whole table is like one record after its last row. The bytes of that record are a hash of the rows and users.
class TableWitness final : public folder::InputWitness {
 public:
  explicit TableWitness(const Table& table);

  void require_same_size(const journal::StateRecord& record) const override;
  void check(const journal::StateRecord& record) override;
  [[nodiscard]] bool holds(const journal::StateRecord& record) override;
  [[nodiscard]] std::vector<decode::ReadRecord> at_hand(Position position) const override;

 private:
  decode::ReadRecord whole_;
};

/// Reads every record of config.input, as open_reader() does with `other_kinds`. Throws as the reader does, and
/// Failure(interrupted) after a signal.
[[nodiscard]] Table read_table(const config::Config& config,
                               decode::OtherKinds other_kinds = decode::OtherKinds::refused);

}  // namespace nustream::estimate
