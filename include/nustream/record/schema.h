// Which fields of a record become which numbers of a row: public maps only, fixed before any data is read.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace nustream::record {

/// A public map from one field's text to a number. A field that cannot be mapped (not a number, log of a
/// value ≤ 0, not a timestamp) makes the whole record unusable: it takes its step with a zero gradient.
enum class Transform {
  identity,
  log,  ///< natural
  log1p,
  sqrt,
  square,
  indicator,    ///< 1 where the field's text equals `equals`, else 0
  hour,         ///< 0 … 23 of an ISO 8601 timestamp, as written (no time zone conversion)
  day_of_week,  ///< 0 Monday … 6 Sunday
};

/// One field under one transform.
struct Term {
  std::string column;
  Transform transform = Transform::identity;
  std::string equals;  ///< for Transform::indicator
};

/// One number of a row: (clamp(value, lower, upper) − center)/scale, where value is the first term, or the
/// product of the two (an interaction).
struct Feature {
  std::string name;  ///< as shown in releases
  Term first;
  std::optional<Term> second;
  double center = 0;
  double scale = 1;  ///< > 0
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
};

/// A row is [1 if intercept, features…], and the target y where there is one.
struct Schema {
  std::vector<Feature> features;
  std::optional<Feature> target;
  bool intercept = false;
  std::size_t labels = 0;  ///< the target is one of 0, 1, …, labels − 1; 0: any number
  /// The target alone is private. A record that only its target makes unusable keeps its features, which must not
  /// tell of it, and has NaN for a target.
  bool features_public = false;

  [[nodiscard]] std::size_t dimension() const noexcept { return features.size() + (intercept ? 1 : 0); }
};

}  // namespace nustream::record
