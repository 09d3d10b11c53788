// Finds out which columns a fit uses, by their public names.
#pragma once

#include <cstddef>
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
  std::optional<record::Feature> weight;      ///< clamped to 0 and the public bound, which is its `upper`
  std::optional<record::Feature> exposure{};  ///< of counts; its `upper` is the public bound of what it weighs
  bool is_offset = false;                     ///< the exposure's column holds its logarithm
  bool is_listed = false;                     ///< the features were named in options, not found in the header
  std::size_t found = 0;                      ///< so many features, the first ones, were found in the header
};

/// Whether the feature is one more bin, or one more bucket, of the column of the feature before it. All of them lack
/// the same fields, which is said once.
[[nodiscard]] bool is_one_more_of_column(const Columns& columns, std::size_t column);

/// Returns the columns that `options` name. Where they list no features, it returns all columns of the header except
/// those of the target, the weight and the exposure, with the bins of a column in place of the column.
///
/// Throws Failure(usage) for JSON lines without names, which have no public header, for a feature that is named twice
/// or is the target's column under the same map, for bins that are none (bins.h), for a weight or an exposure that is
/// made of the target's column, for an exposure of a model that has none or without a bound, and for standard input.
/// Throws Failure(io) and Failure(data) where there is no header, and Failure(configuration) for a name that the
/// header lacks or has twice; the message lists the names of the header.
[[nodiscard]] Columns columns_of(const Options& options);

}  // namespace nustream::fit
