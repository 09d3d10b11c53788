#include "check/data_check.h"

#include <algorithm>
#include <cmath>

#include "check/start_clips.h"
#include "nustream/record/row.h"

namespace nustream::check {
namespace {

ColumnFinding column_of(const record::Feature& feature) {
  return {.name = feature.name, .center = feature.center, .scale = feature.scale};
}

/// Whether `working`, made of the feature's value as RowBuilder makes it, is that of one of its bounds.
bool is_at_bound(const record::Feature& feature, double working) {
  return working == (feature.lower - feature.center) / feature.scale ||
         working == (feature.upper - feature.center) / feature.scale;
}

void add(const record::Feature& feature, double working, ColumnFinding& column) {
  column.profile.add(working * feature.scale + feature.center);
  if (is_at_bound(feature, working)) ++column.at_bounds;
}

/// Of an indicator whose text no usable record has.
void look_for_text(const record::Feature& feature, ColumnFinding& column) {
  const bool is_indicator = feature.first.transform == record::Transform::indicator && !feature.second;
  if (is_indicator && column.profile.count() > 0 && column.profile.largest() <= 0)
    column.never = feature.first.equals;
}

std::string start_in_words(const config::Config& config) {
  const std::vector<double>& start = config.descent.start;
  const bool is_zero = std::all_of(start.begin(), start.end(), [](double value) { return value == 0; });
  return is_zero ? "theta = 0" : config.moments ? "theta = moments.start" : "theta = descent.start";
}

}  // namespace

DataCheck::DataCheck(const config::Config& config, const config::Mechanism& mechanism)
    : config_(config), mechanism_(mechanism), dimension_(config.schema.dimension()), schema_(config.schema) {
  found_.start = start_in_words(config);
  found_.tally.of_sums = config.moments.has_value();
  for (const record::Feature& feature : config.schema.features) found_.columns.push_back(column_of(feature));
  if (!config.schema.target) return;
  found_.target = column_of(*config.schema.target);
  if (config.schema.labels == 0) return;
  labels_ = std::make_unique<LabelTexts>();
  record::Term texts{config.schema.target->first.column, record::Transform::custom, {}, {}, labels_.get()};
  schema_.features.push_back({.name = "labels", .first = std::move(texts), .second = {}});
}

void DataCheck::profile(const record::RowBatch& rows, std::size_t row) {
  const double* const x = rows.x.data() + row * rows.dimension + (schema_.intercept ? 1 : 0);
  for (std::size_t j = 0; j < found_.columns.size(); ++j) {
    add(config_.schema.features[j], x[j], found_.columns[j]);
  }
  if (found_.target) add(*config_.schema.target, rows.y[row], *found_.target);
}

void DataCheck::take(record::RowBatch& rows) {
  std::vector<double> without_texts;
  without_texts.reserve(rows.count() * dimension_);
  auto reject = rows.rejects.begin();
  for (std::size_t row = 0; row < rows.count(); ++row) {
    const auto begin = rows.x.begin() + static_cast<std::ptrdiff_t>(row * rows.dimension);
    without_texts.insert(without_texts.end(), begin, begin + static_cast<std::ptrdiff_t>(dimension_));
    if (reject != rows.rejects.end() && reject->position.value() + 1 == rows.next[row]) {
      ++reject;
    } else {
      profile(rows, row);
    }
  }
  found_.tally.records += rows.count();
  found_.tally.gradients += rows.count() - rows.rejects.size();
  found_.tally.add(rows.rejects);
  found_.tally.clipped += clipped_at_start(config_, mechanism_,
                                           {dimension_, rows.count(), without_texts.data(), rows.y.data(), nullptr,
                                            nullptr, rows.weights.empty() ? nullptr : rows.weights.data()});
  rows.clear();
}

bool DataCheck::refuses(const std::string& label) const {
  record::Schema target_alone;
  target_alone.target = config_.schema.target;
  target_alone.labels = config_.schema.labels;
  const record::RowBuilder builder(target_alone);
  std::vector<double> readings;
  for (const record::Field& field : builder.fields()) readings.push_back(record::read_field(field, label));
  double y = 0;
  return !builder.build(readings.data(), nullptr, y);
}

Findings DataCheck::findings(const std::string& source) const {
  Findings found = found_;
  found.source = source;
  for (std::size_t j = 0; j < found.columns.size(); ++j) {
    look_for_text(config_.schema.features[j], found.columns[j]);
  }
  if (found.target) look_for_text(*config_.schema.target, *found.target);
  if (!labels_ || config_.schema.target->second) return found;
  for (const auto& [text, count] : labels_->counts()) {
    if (refuses(text)) found.refused_labels.emplace_back(text, count);
  }
  found.refused_others = labels_->others();
  return found;
}

}  // namespace nustream::check
