// A table that a line fits: y = 2a, and noise of the same size as a.
#pragma once

#include <random>
#include <string>

namespace nustream::tests {

/// CSV of 3,000 rows "a,y" below their header, the same at each call.
inline std::string normal_table() {
  std::string csv = "a,y\n";
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 3000; ++i) {
    const double a = normal(random);
    csv += std::to_string(a) + "," + std::to_string(2 * a + normal(random)) + "\n";
  }
  return csv;
}

}  // namespace nustream::tests
