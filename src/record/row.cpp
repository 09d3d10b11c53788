// From the fields of one record to its row, in three stages: read_field() makes a number of each text
// (read_field.cpp); the maps of the schema are applied; build() writes the row, or zeros where the record is
// unusable. All maps are public and read one record alone, so that a change to one record changes one row.
// docs/formats/input.md says what is read how.
#include "nustream/record/row.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nustream/base/error.h"
#include "record/unreadable.h"

namespace nustream::record {
namespace {

/// How the column of a term is read. A transform that works on the text is a reading of its own; the others work on a
/// number and are applied later, by apply().
Reading reading_of(Transform transform) {
  switch (transform) {
    case Transform::indicator:
      return Reading::equals;
    case Transform::hour:
      return Reading::hour;
    case Transform::day_of_week:
      return Reading::day_of_week;
    case Transform::label:
      return Reading::label;
    case Transform::custom:
      return Reading::custom;
    case Transform::other:
      return Reading::other;
    case Transform::bucket:
      return Reading::bucket;
    default:
      return Reading::number;
  }
}

/// A public map of a number. Outside its domain, as for the logarithm of 0, the result is not finite, and the record
/// is unusable.
double apply(Transform transform, double reading) noexcept {
  switch (transform) {
    case Transform::log:
      return std::log(reading);
    case Transform::log1p:
      return std::log1p(reading);
    case Transform::sqrt:
      return std::sqrt(reading);
    case Transform::square:
      return reading * reading;
    default:
      return reading;
  }
}

/// What an operator reads about a transform whose result is not finite.
const char* description(Transform transform) {
  switch (transform) {
    case Transform::log:
      return "log";
    case Transform::log1p:
      return "log1p";
    case Transform::sqrt:
      return "sqrt";
    case Transform::square:
      return "square";
    default:
      return "identity";
  }
}

/// The reason that is given for a user whose records count in another lane than the one that reads them.
constexpr const char* other_lane = "a user of another lane: the topic is not divided by privacy.user";

/// What an operator reads about a field whose text could not be read. It never quotes the text itself.
const char* expectation(const Field& field) {
  switch (field.reading) {
    case Reading::hour:
    case Reading::day_of_week:
      return field.unit == TimeUnit::none
                 ? "not a timestamp such as 2010-01-31T09:00 (ISO 8601; a plain number is one where its unit is set)"
                 : "not a timestamp such as 2010-01-31T09:00 (ISO 8601), nor a number of its unit in the years 0 to "
                   "9999";
    case Reading::label:
      return "not one of model.labels";
    case Reading::equals:
    case Reading::other:
    case Reading::bucket:
      return "not a text, but null, an object or an array";
    case Reading::user:
      return "one of privacy.user_null, or no text: no user";
    default:
      return "not a number";
  }
}

/// 1 inside the bin and 0 outside. A reading that is not finite stays as it is, so that the record becomes unusable.
double is_in_bin(double reading, double from, double below) noexcept {
  if (!std::isfinite(reading)) return reading;
  return from <= reading && reading < below ? 1 : 0;
}

/// Whether a target is a class number; without classes any number is one.
bool is_label(double target, std::size_t labels) noexcept {
  return labels == 0 || (target >= 0 && target < static_cast<double>(labels) && target == std::floor(target));
}

void check(const Term& term, const std::string& name) {
  if (term.column.empty()) throw InvalidParameter("column of '" + name + "'", "''", "the name of a column");
  if (term.transform == Transform::bucket && term.bucket >= term.buckets) {
    throw InvalidParameter("bucket of '" + name + "'", std::to_string(term.bucket), "a number below that of buckets");
  }
  if (term.transform == Transform::bin && !(term.from < term.below)) {
    throw InvalidParameter("bin of '" + name + "'", std::to_string(term.from),
                           "a number below the bin's upper bound");
  }
}

void check(const Feature& feature) {
  const auto refuse = [&](const char* what, double value, const char* allowed) {
    throw InvalidParameter(what + (" of '" + feature.name + "'"), std::to_string(value), allowed);
  };
  check(feature.first, feature.name);
  if (feature.second) check(*feature.second, feature.name);
  if (!std::isfinite(feature.scale) || feature.scale <= 0) refuse("scale", feature.scale, "a finite number > 0");
  if (!std::isfinite(feature.center)) refuse("center", feature.center, "a finite number");
  if (std::isnan(feature.lower) || feature.lower == std::numeric_limits<double>::infinity()) {
    refuse("lower", feature.lower, "a number below infinity");
  }
  if (std::isnan(feature.upper) || feature.upper == -std::numeric_limits<double>::infinity()) {
    refuse("upper", feature.upper, "a number above minus infinity");
  }
  if (feature.lower > feature.upper) refuse("lower", feature.lower, "at most upper");
}

}  // namespace

RowBuilder::RowBuilder(const Schema& schema)
    : features_(schema.features.size()),
      dimension_(schema.dimension()),
      intercept_(schema.intercept),
      labels_(schema.labels),
      counts_(schema.counts),
      features_public_(schema.features_public) {
  // maps_ holds the features in their order, and the target behind them.
  for (const Feature& feature : schema.features) maps_.push_back(map(feature));
  if (schema.target) maps_.push_back(map(*schema.target));
  // The column of users is a field without a map: it enters no number of the row.
  if (schema.user) {
    user_field_ = static_cast<std::uint32_t>(fields_.size());
    fields_.push_back(
        {schema.user->column, Reading::user, {}, schema.user->nobody, nullptr, TimeUnit::none, schema.user->reader});
  }
  // Weight and exposure are factors like those of features, and may share their fields.
  if (schema.weight) {
    check(schema.weight->term, "weight");
    weight_ = factor(schema.weight->term);
    weight_most_ = schema.weight->most;
  }
  if (schema.exposure) {
    check(schema.exposure->term, "exposure");
    exposure_ = factor(schema.exposure->term);
    exposure_most_ = schema.exposure->most;
    exposure_is_log_ = schema.exposure->is_log;
  }
  // Where no map changes a reading, build() copies the readings and leaves the arithmetic of value() out.
  copies_ = std::all_of(maps_.begin(), maps_.end(), [](const Map& map) {
    return map.first.transform == Transform::identity && !map.second && map.center == 0 && map.scale == 1 &&
           std::isinf(map.lower) && std::isinf(map.upper);
  });
}

/// Finds or adds the field that a term reads. Terms that read a column in the same way share its field, which is then
/// read once for each record.
RowBuilder::Factor RowBuilder::factor(const Term& term) {
  Field field{term.column, reading_of(term.transform), {}, {}, term.reader, term.unit};
  if (field.reading == Reading::equals) field.equals = term.equals;
  if (field.reading == Reading::label || field.reading == Reading::other) field.labels = term.labels;
  if (field.reading == Reading::bucket) field.buckets = term.buckets;
  const auto known = std::find(fields_.begin(), fields_.end(), field);
  const auto index = static_cast<std::uint32_t>(known - fields_.begin());
  if (known == fields_.end()) fields_.push_back(std::move(field));
  // A bucket is the bin [number, number + 1) of the reading, so that all buckets of a column share one field.
  if (term.transform == Transform::bin) return {index, Transform::bin, term.from, term.below};
  if (term.transform == Transform::bucket) {
    return {index, Transform::bin, static_cast<double>(term.bucket), static_cast<double>(term.bucket) + 1};
  }
  // The other transforms were already applied when the field was read.
  return {index, reading_of(term.transform) == Reading::number ? term.transform : Transform::identity};
}

RowBuilder::Map RowBuilder::map(const Feature& feature) {
  check(feature);
  Map result{feature.name,  factor(feature.first), std::nullopt, feature.center,
             feature.scale, feature.lower,         feature.upper};
  if (feature.second) result.second = factor(*feature.second);
  return result;
}

/// What a term makes of one reading: its bin, or its transform.
double RowBuilder::value(const Factor& factor, const double* readings) noexcept {
  const double reading = readings[factor.field];
  if (factor.transform == Transform::bin) return is_in_bin(reading, factor.from, factor.below);
  return apply(factor.transform, reading);
}

/// A number of the row, or the target: the product of one or two terms, clamped, centred and scaled.
double RowBuilder::value(const Map& map, const double* readings) noexcept {
  double value = RowBuilder::value(map.first, readings);
  if (map.second) value *= RowBuilder::value(*map.second, readings);
  // This comes before the clamp, which would hide an infinity.
  if (!std::isfinite(value)) return unreadable;
  return (std::clamp(value, map.lower, map.upper) - map.center) / map.scale;
}

/// E, or NaN unless it is finite and above 0.
double RowBuilder::exposure(const double* readings) const noexcept {
  if (!exposure_) return 1;
  const double read = value(*exposure_, readings);
  const double exposure = exposure_is_log_ ? std::exp(read) : read;
  return std::isfinite(exposure) && exposure > 0 ? exposure : unreadable;
}

/// w, or NaN unless it is finite and at least 0.
double RowBuilder::weight(const double* readings) const noexcept {
  double weight = 1;
  if (weight_) {
    const double read = value(*weight_, readings);
    // The weight is cut off at its public bound. An infinite one is no weight, and is not cut to the bound.
    weight = std::isfinite(read) && read >= 0 ? std::min(read, weight_most_) : unreadable;
  }
  // A rate over an exposure E counts E times, as E observations of one unit would.
  return exposure_ ? weight * std::min(exposure(readings), exposure_most_) : weight;
}

// A label is a class number, and a count is not negative.
bool RowBuilder::is_target(double value) const noexcept {
  return is_label(value, labels_) && !(counts_ && value < 0);
}

bool RowBuilder::build(const double* readings, double* x, double& y, double* weight) const noexcept {
  bool usable = true;
  const auto evaluate = [&](const Map& map) {
    const double result = copies_ ? readings[map.first.field] : value(map, readings);
    usable &= std::isfinite(result);
    return result;
  };
  // With an intercept and the features a and b, x is 1, a, b.
  double* at = x;
  if (intercept_) *at++ = 1;
  for (std::size_t j = 0; j < features_; ++j) at[j] = evaluate(maps_[j]);
  // A record that is nobody's is unusable: the limits of no user would hold for it.
  if (user_field_) usable &= std::isfinite(readings[*user_field_]);
  const double counts_as = has_weights() ? this->weight(readings) : 1;
  usable &= std::isfinite(counts_as);
  // Public features must not tell whether the private target could be used, so they stay where the target alone is
  // unusable.
  const bool keep_features = usable && features_public_;
  y = maps_.size() > features_ ? evaluate(maps_.back()) : 0;
  usable &= is_target(y);
  // The target becomes a rate: counts over the exposure.
  if (exposure_) {
    y /= exposure(readings);
    usable &= std::isfinite(y);
  }
  if (!usable) {
    // An unusable record becomes a row of zeros but remains a row: the number of steps must not depend on what
    // records hold.
    if (!keep_features) std::fill_n(x, dimension_, 0.0);
    y = keep_features ? unreadable : 0;
  }
  // An unusable record counts for nothing, unless its public features are used without the target.
  if (weight != nullptr) *weight = usable || keep_features ? counts_as : 0;
  return usable;
}

RowUser RowBuilder::user(const double* readings) const noexcept {
  if (!user_field_ || fields_[*user_field_].users == nullptr) return {};
  const double number = readings[*user_field_];
  return std::isfinite(number) ? fields_[*user_field_].users->find(number) : RowUser{};
}

void RowBuilder::forget_users() const noexcept {
  if (user_field_ && fields_[*user_field_].users != nullptr) fields_[*user_field_].users->forget();
}

// The reason is for the operator. It names columns and what was expected of them, and no value of a field.
std::string RowBuilder::reason(const double* readings) const {
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    // Fields come first, as their readings say more than the values that were made of them.
    if (!std::isfinite(readings[f])) return "column '" + fields_[f].column + "': " + reason_of_field(f, readings[f]);
  }
  return reason_of_values(readings);
}

std::string RowBuilder::reason_of_field(std::size_t f, double reading) const {
  if (is_missing(reading)) return "missing";
  if (is_empty(reading)) return "empty";
  const bool is_label = labels_ > 0 && maps_.size() > features_ && maps_.back().first.field == f;
  if (is_label && fields_[f].reading == Reading::number) return no_label();
  // A user of another lane is read as an infinity, where nobody is a NaN.
  const bool is_elsewhere = fields_[f].reading == Reading::user && std::isinf(reading);
  return is_elsewhere ? other_lane : expectation(fields_[f]);
}

std::string RowBuilder::no_label() const {
  return "not a label 0 … " + std::to_string(labels_ - 1);
}

std::string RowBuilder::reason_of_values(const double* readings) const {
  for (const Map& map : maps_) {
    if (std::isfinite(value(map, readings))) continue;
    if (map.second) return "feature '" + map.name + "': the product is not finite";
    return "column '" + fields_[map.first.field].column + "': " + description(map.first.transform) + " is not finite";
  }
  if (weight_ && !(value(*weight_, readings) >= 0 && std::isfinite(value(*weight_, readings)))) {
    return "column '" + fields_[weight_->field].column + "': negative or not finite, so not a weight";
  }
  if (std::isnan(exposure(readings))) {
    const char* const fault = exposure_is_log_ ? "exp of it is 0 or not finite" : "not above 0, or not finite";
    return "column '" + fields_[exposure_->field].column + "': " + fault + ", so not an exposure";
  }
  if (maps_.size() > features_ && !is_target(value(maps_.back(), readings))) {
    return "column '" + fields_[maps_.back().first.field].column +
           "': " + (counts_ ? "negative, so not a count" : no_label());
  }
  if (exposure_) return "column '" + fields_[exposure_->field].column + "': the target over it is not finite";
  return "unusable";
}

}  // namespace nustream::record
