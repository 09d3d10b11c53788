// Tables whose records belong to users, for tests of ranges.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

#include "nustream/ranges/table_fit.h"

namespace nustream::tests {

/// Records of a few users, some of whom have many, and of nobody.
struct UsersTable {
  static constexpr std::size_t features = 2;

  std::vector<double> x{};
  std::vector<double> y{};
  std::vector<record::RowUser> users{};

  [[nodiscard]] ranges::Table table() const { return {features, x, y, {}, users}; }
};

/// A number that may be huge, tiny, infinite or none at all.
inline double any_number(std::mt19937_64& random) {
  constexpr double special[] = {0,
                                1,
                                -1,
                                3,
                                1e-300,
                                1e300,
                                -1e160,
                                std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN()};
  if (random() % 4 == 0) return special[random() % std::size(special)];
  return std::ldexp(static_cast<double>(random() % 2001) / 1000 - 1, static_cast<int>(random() % 8) - 2);
}

}  // namespace nustream::tests
