// Guesses how large a row's numbers are from the settings alone. A plan uses the guess where no eigenvalues are set.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace nustream::config {

struct PublicScale {
  /// Eigenvalues of a guess of E[xxᵀ], one for each of the row's numbers. A feature with a known range is taken to be
  /// uniform on it and independent of the others, one without has size 1 about 0, and the intercept is 1.
  std::vector<double> eigenvalues;
  std::vector<std::string> unknown;  ///< features whose range the settings do not tell
};

/// Guesses from `clamp`, `transform`, `center` and `scale`; no record is looked at.
[[nodiscard]] PublicScale public_scale(const record::Schema& schema);

}  // namespace nustream::config
