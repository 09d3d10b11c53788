// How large a row's numbers are, as far as the settings alone tell: what a plan goes by where no eigenvalues are set.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace nustream::config {

struct PublicScale {
  /// Of a guess of E[xxᵀ], one for each of the row's numbers: a feature with a known range is uniform on it and
  /// independent of the others, one without has size 1 about 0, the intercept is 1.
  std::vector<double> eigenvalues;
  std::vector<std::string> unknown;  ///< features of whose range the settings say nothing
};

/// Of what `clamp`, `transform`, `center` and `scale` say; no record is looked at.
[[nodiscard]] PublicScale public_scale(const record::Schema& schema);

}  // namespace nustream::config
