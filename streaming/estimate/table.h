// A whole table in memory, read once: rows of doubles that are never copied again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "console/operator_counts.h"
#include "folder/input_witness.h"
#include "nustream/inference/least_squares.h"
#include "nustream/record/batch.h"

namespace nustream::estimate {

/// Doubles in memory that grows where it is, or moves by its page tables alone.
class GrowingColumn {
 public:
  GrowingColumn() = default;
  ~GrowingColumn();
  GrowingColumn(GrowingColumn&& other) noexcept;
  GrowingColumn& operator=(GrowingColumn&&) = delete;

  /// Failure(internal) where the machine has no memory left.
  void append(std::span<const double> values);
  void append_zeros(std::size_t count);
  [[nodiscard]] std::span<const double> values() const noexcept { return {data_, size_}; }

 private:
  void reserve(std::size_t size);

  double* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// Rows as config.schema makes them; an unusable record is a row of zeros.
struct Table {
  std::size_t dimension = 0;
  GrowingColumn x;  ///< row-major
  GrowingColumn y;
  std::vector<record::RowUser> users;  ///< of each row, where the unit is the user; else empty
  GrowingColumn weights;               ///< of each row, where rows have weights; else empty
  console::OperatorCounts counts;
  std::string reject_lines;  ///< of the first ones, for rejects.jsonl, where it is asked for
  bool rejects_cut = false;  ///< there are more than those

  [[nodiscard]] std::size_t rows() const noexcept { return y.values().size(); }
  /// Rows from `first` on, which are `count`.
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
  /// Rows of zeros, whose gradient is zero, up to whole minibatches.
  void pad_to_multiple_of(std::size_t rows);
};

/// Tells a table again by all of its rows, and by which of them belong to one user: they are at hand as one record,
/// behind the last of them.
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

/// Reads every record of config.input. Failure as the reader's.
[[nodiscard]] Table read_table(const config::Config& config);

}  // namespace nustream::estimate
