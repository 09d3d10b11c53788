// Rows of doubles on their way from a decoder to a lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nustream/base/units.h"

namespace nustream::record {

/// Why a record took a step with a zero gradient. Only the operator may see it; it never appears on the public
/// surface.
struct Reject {
  Position position;
  std::string reason;  ///< one line that names the column; never contains a field's value
};

/// The user whose record a row is, where the unit of privacy is the user: a keyed hash of the identifier
/// (docs/formats/users.md). All zeros for a row that belongs to nobody, which takes its step with a zero gradient.
struct RowUser {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::uint32_t number = 0;  ///< the number that a partitioner computes from the identifier

  [[nodiscard]] bool is_nobody() const noexcept { return high == 0 && low == 0; }
};

/// Rows in the order of the stream. An unusable record is a row of zeros, intercept and target included, and has an
/// entry in `rejects`. The gradient of such a row is exactly zero under every loss of the library.
struct RowBatch {
  std::size_t dimension = 0;
  std::vector<double> x;            ///< row-major count × dimension
  std::vector<double> y;            ///< count; zeros where the loss has no target
  std::vector<std::uint64_t> next;  ///< position after each row, from which to go on once the row's step is taken
  std::vector<Reject> rejects;
  /// The event time of each row in seconds since 1970-01-01T00:00:00Z, NaN where it cannot be read. Empty unless the
  /// reader was given a time column. The times pace a replay and delimit the windows of users' limits
  /// (users/period.h); no row depends on them.
  std::vector<double> times;
  std::vector<RowUser> users;   ///< one for each row if the schema names a user, otherwise empty
  std::vector<double> weights;  ///< finite and >= 0, one for each row if the schema weighs records; empty: all are 1

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

/// The rows [begin, end) of a batch, without a copy.
struct RowSlice {
  std::size_t dimension;
  std::size_t count;
  const double* x;
  const double* y;
  const std::uint64_t* next;        ///< null: the position after each row is one more than that of the row before
  const RowUser* users = nullptr;   ///< null where the unit of privacy is a record
  const double* weights = nullptr;  ///< null: all are 1
  const double* times = nullptr;    ///< seconds since 1970, NaN where not known; null if nobody asked for them

  [[nodiscard]] double weight(std::size_t row) const noexcept { return weights == nullptr ? 1.0 : weights[row]; }
  /// The weights of `size` rows from `first` on; empty where all are 1.
  [[nodiscard]] std::span<const double> weights_of(std::size_t first, std::size_t size) const noexcept {
    return weights == nullptr ? std::span<const double>() : std::span(weights + first, size);
  }
  /// The `size` rows from `first` on.
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
