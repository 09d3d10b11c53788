// Combines the readings of rows whose fields are partly in a line and partly beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace nustream::decode {

/// The reading of a field that is there, but whose text cannot be read. A field that is not there reads as
/// record::missing.
inline constexpr double unreadable = std::numeric_limits<double>::quiet_NaN();

/// Puts the numbers that a row is built from into the builder's order.
class MergedReadings {
 public:
  /// The places, in the builder's order, of the fields that a line holds, and of the fields beside it.
  MergedReadings(std::vector<std::uint32_t> in_line, std::vector<std::uint32_t> beside)
      : in_line_(std::move(in_line)), beside_(std::move(beside)), merged_(in_line_.size() + beside_.size()) {}

  /// Whether any field stands beside the line.
  [[nodiscard]] bool any() const noexcept { return !beside_.empty(); }

  void clear() noexcept { values_.clear(); }
  /// Makes room for the readings beside the next row's line, in the order of the constructor; valid until the next
  /// call.
  [[nodiscard]] std::span<double> add() {
    values_.resize(values_.size() + beside_.size());
    return std::span(values_).last(beside_.size());
  }

  /// All readings of a row: those of its line, and those that the `row`-th call of add() made room for, counted from
  /// 0. Valid until the next call.
  [[nodiscard]] const double* merge(const double* line, std::size_t row) {
    const double* const beside = values_.data() + row * beside_.size();
    for (std::size_t j = 0; j < in_line_.size(); ++j) merged_[in_line_[j]] = line[j];
    for (std::size_t j = 0; j < beside_.size(); ++j) merged_[beside_[j]] = beside[j];
    return merged_.data();
  }

 private:
  std::vector<std::uint32_t> in_line_;
  std::vector<std::uint32_t> beside_;
  std::vector<double> values_;  // beside_.size() values for each row
  std::vector<double> merged_;  // the readings of one row
};

}  // namespace nustream::decode
