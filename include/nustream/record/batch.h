// Rows of doubles on their way from a decoder to a lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nustream/base/units.h"

namespace nustream::record {

/// Why a record took a zero-gradient step. Operator side only: never on the public surface.
struct Reject {
  Position position;
  std::string reason;  ///< one line, names the column; never a field's value
};

/// Whose record a row is, where the unit of privacy is the user: a keyed hash of the identifier
/// (docs/formats/users.md). All zeros for a row of nobody, which takes its step with a zero gradient.
struct RowUser {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::uint32_t number = 0;  ///< what a partitioner makes of the identifier, masked

  [[nodiscard]] bool is_nobody() const noexcept { return high == 0 && low == 0; }
};

/// Rows in stream order. An unusable record is a row of zeros (intercept and target included), whose gradient
/// is exactly zero under every loss of the library, and has an entry in `rejects`.
struct RowBatch {
  std::size_t dimension = 0;
  std::vector<double> x;            ///< row-major count × dimension
  std::vector<double> y;            ///< count; zeros where the loss has no target
  std::vector<std::uint64_t> next;  ///< position after each row: where to go on once it is stepped
  std::vector<Reject> rejects;
  /// Event time of each row, seconds since 1970-01-01T00:00:00Z, NaN where it cannot be read; empty unless the
  /// reader was given a time column. For pacing a replay, and for the windows of users' limits (users/period.h): no
  /// row depends on it.
  std::vector<double> times;
  std::vector<RowUser> users;   ///< count, where the schema names a user; else empty
  std::vector<double> weights;  ///< count, finite and >= 0, where the schema weighs records; else empty: all are 1

  [[nodiscard]] std::size_t count() const noexcept { return next.size(); }
  void clear() {
    x.clear();
    y.clear();
    next.clear();
    rejects.clear();
    times.clear();
    users.clear();
    weights.clear();
  }
};

/// Rows [begin, end) of a batch, without a copy.
struct RowSlice {
  std::size_t dimension;
  std::size_t count;
  const double* x;
  const double* y;
  const std::uint64_t* next;        ///< null: each row is one position behind the row before it
  const RowUser* users = nullptr;   ///< null where the unit of privacy is a record
  const double* weights = nullptr;  ///< null: all are 1
  const double* times = nullptr;    ///< seconds since 1970, NaN where not known; null where nobody asked for them

  [[nodiscard]] double weight(std::size_t row) const noexcept { return weights == nullptr ? 1.0 : weights[row]; }
  /// Those of `size` rows from `first` on; none where all are 1.
  [[nodiscard]] std::span<const double> weights_of(std::size_t first, std::size_t size) const noexcept {
    return weights == nullptr ? std::span<const double>() : std::span(weights + first, size);
  }
  /// `size` rows from `first` on.
  [[nodiscard]] RowSlice part(std::size_t first, std::size_t size) const noexcept {
    const auto from = [first](auto* column) { return column == nullptr ? column : column + first; };
    return {dimension, size, x + first * dimension, y + first, from(next), from(users), from(weights), from(times)};
  }
};
[[nodiscard]] inline RowSlice slice(const RowBatch& batch, std::size_t begin, std::size_t end) {
  return {batch.dimension,
          end - begin,
          batch.x.data() + begin * batch.dimension,
          batch.y.data() + begin,
          batch.next.data() + begin,
          batch.users.empty() ? nullptr : batch.users.data() + begin,
          batch.weights.empty() ? nullptr : batch.weights.data() + begin,
          batch.times.empty() ? nullptr : batch.times.data() + begin};
}

}  // namespace nustream::record
