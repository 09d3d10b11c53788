// Finds out which columns a fit uses, by their public names.
#pragma once

#include <optional>
#include <vector>

#include "config/input.h"
#include "fit/fit.h"
#include "nustream/record/schema.h"

namespace nustream::fit {

/// The columns and the files that a fit reads. Their names are public.
struct Columns {
  config::InputSettings input;
  std::vector<record::Feature> features;
  record::Feature target;
  std::optional<record::Feature> weight;  ///< clamped to 0 and the public bound, which is its `upper`
  bool is_listed = false;                 ///< the features were named in options, not found in the header
};

/// Returns the columns that `options` name. Where they name none, it returns all columns of the header except the
/// target's and the weight's.
///
/// Throws Failure(usage) for JSON lines without names, which have no public header, for a feature that is named twice
/// or is the target's column under the same map, and for standard input. Throws Failure(io) and Failure(data) where
/// there is no header, and Failure(configuration) for a name that the header lacks or has twice; the message lists
/// the names of the header.
[[nodiscard]] Columns columns_of(const Options& options);

}  // namespace nustream::fit
