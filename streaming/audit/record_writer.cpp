// The text of each column for given values. Columns of features get the feature's value, those of weights and
// exposures get theirs, and a column that nothing reads gets 0. What the texts become is decided by the shipped
// decoder, which the games run.
#include "audit/record_writer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace nustream::audit {

/// Without a header the settings name all columns, and a line has to have each of them. With one, the columns that
/// are read are enough, each once, though several features may read it.
RecordWriter::RecordWriter(const config::Config& config, std::span<const record::Field> fields)
    : config_(config), fields_(fields), encoder_(make_line_encoder(config.input)) {
  if (has_columns(config.input) && !config.input.header) {
    columns_ = config.input.columns;
    return;
  }
  for (const record::Field& field : fields) {
    if (std::find(columns_.begin(), columns_.end(), field.column) == columns_.end()) columns_.push_back(field.column);
  }
}

std::string RecordWriter::text_of(const record::Field& field, const Values& values, bool is_zero) {
  if (field.reading == record::Reading::user) return std::string(values.user);
  // Any other text is a 0 of an indicator. The tilde makes one, whatever value the indicator looks for.
  if (field.reading == record::Reading::equals) return is_zero ? field.equals + '~' : field.equals;
  if (field.reading == record::Reading::other && is_zero) return field.labels.front();
  return is_zero ? "2024-01-01T00:00:00Z" : "2024-01-06T23:00:00Z";  // a Monday, a Saturday
}

std::string RecordWriter::text(const std::string& column, const Values& values) const {
  const record::Field* const field = field_of(column);
  if (field == nullptr) return "0";
  const bool is_zero = values.axis != nullptr && *values.axis != column;
  if (field->reading != record::Reading::number) return text_of(*field, values, is_zero);
  if (config_.schema.target && config_.schema.target->first.column == column) {
    return std::isfinite(values.target) ? fmt::format("{}", values.target) : encoder_->no_number();
  }
  if (const auto counts = counting(column, values)) return fmt::format("{}", *counts);
  if (is_zero) return fmt::format("{}", centre_of(column));
  return fmt::format("{}", is_endogenous(column) ? values.endogenous : values.feature);
}

std::string RecordWriter::record(const Values& values) const {
  std::vector<EncodedField> fields;
  fields.reserve(columns_.size());
  for (const std::string& column : columns_) {
    const record::Field* const field = field_of(column);
    // A column that nothing reads holds "0", which is a number, too.
    const bool is_number = field == nullptr || field->reading == record::Reading::number;
    fields.push_back({column, text(column, values), is_number});
  }
  return encoder_->record(fields);
}

/// Whether the column is a regressor of a two-stage model; those are a row's last features.
bool RecordWriter::is_endogenous(const std::string& column) const {
  const auto& first = config_.descent.first_stage;
  if (!first) return false;
  const auto last = std::span(config_.schema.features).last(first->shape.endogenous);
  return std::any_of(last.begin(), last.end(),
                     [&](const record::Feature& feature) { return feature.first.column == column; });
}

std::optional<double> RecordWriter::counting(const std::string& column, const Values& values) const {
  const record::Schema& schema = config_.schema;
  const auto is_feature = [&](const record::Feature& feature) {
    return feature.first.column == column || (feature.second && feature.second->column == column);
  };
  // A column that is a feature besides has the feature's value.
  if (std::any_of(schema.features.begin(), schema.features.end(), is_feature)) return std::nullopt;
  if (schema.weight && schema.weight->term.column == column) return values.weight;
  if (schema.exposure && schema.exposure->term.column == column) {
    return schema.exposure->is_log ? std::log(values.exposure) : values.exposure;
  }
  return std::nullopt;
}

double RecordWriter::centre_of(const std::string& column) const {
  const std::vector<record::Feature>& features = config_.schema.features;
  const auto found = std::find_if(features.begin(), features.end(), [&](const record::Feature& feature) {
    return feature.first.column == column && !feature.second;
  });
  if (found == features.end()) return 0;
  // The inverse of the transform, since a feature is centred after it.
  switch (found->first.transform) {
    case record::Transform::log:
      return std::exp(found->center);
    case record::Transform::log1p:
      return std::expm1(found->center);
    case record::Transform::sqrt:
      return found->center * found->center;
    case record::Transform::square:
      return std::sqrt(std::max(found->center, 0.0));
    default:
      return found->center;
  }
}

const record::Field* RecordWriter::field_of(const std::string& column) const {
  const auto found = std::find_if(fields_.begin(), fields_.end(),
                                  [&](const record::Field& field) { return field.column == column; });
  return found == fields_.end() ? nullptr : &*found;
}

}  // namespace nustream::audit
