// The dry run of `check --data`: rows are read by the run's schema with a few columns more, profiled in original
// units, and counted as clipped or not where the run begins. Nothing is noised, charged or kept.
#include "check/data_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "check/first_look.h"
#include "check/long_records.h"
#include "config/advice.h"
#include "config/unicode.h"
#include "decode/json_members.h"
#include "decode/line_decoder.h"
#include "nustream/record/number.h"
#include "nustream/record/row.h"
#include "publish/json_text.h"

namespace nustream::check {
namespace {

/// `key` is the one of the feature's settings, such as "features.0". Where settings of features are measured, each
/// [[features]] table stands for one column (measure::require_measurable()), so that both have the same number.
ColumnFinding column_of(const record::Feature& feature, const config::Config& config, const std::string& key) {
  const auto is_measured = [&](const char* setting) {
    return std::ranges::find(config.measuring.keys, key + setting) != config.measuring.keys.end();
  };
  return {.name = feature.name,
          .center = feature.center,
          .scale = feature.scale,
          .center_is_measured = is_measured(".center"),
          .scale_is_measured = is_measured(".scale"),
          .clamp_is_measured = is_measured(".clamp")};
}

ColumnFinding column_of(const record::Feature& amount) {
  return {.name = amount.name, .center = amount.center, .scale = amount.scale};
}

/// Whether `working`, made of the feature's value as RowBuilder makes it, is the working value of one of the
/// feature's bounds: the clamp cut the value.
bool is_at_bound(const record::Feature& feature, double working) {
  // The same operations on the same numbers as in RowBuilder give the same bits, so that equality is exact.
  return working == (feature.lower - feature.center) / feature.scale ||
         working == (feature.upper - feature.center) / feature.scale;
}

/// The column of [weight] as a feature of its own, cut at the largest weight that counts.
record::Feature amount_of(const record::Weight& weight) {
  return {.name = weight.term.column, .first = weight.term, .second = {}, .upper = weight.most};
}

/// The column of [exposure] as a feature of its own, cut at the largest E that counts, or at its logarithm where the
/// column holds ln E.
record::Feature amount_of(const record::Exposure& exposure) {
  const double most = exposure.is_log ? std::log(exposure.most) : exposure.most;
  return {.name = exposure.term.column, .first = exposure.term, .second = {}, .upper = most};
}

/// Adds a value in original units, which are computed back from the row's own.
void add(const record::Feature& feature, double working, ColumnFinding& column) {
  column.profile.add(working * feature.scale + feature.center);
  if (is_at_bound(feature, working)) ++column.at_bounds;
}

/// Notes the text of an indicator that no usable record has.
void look_for_text(const record::Feature& feature, ColumnFinding& column) {
  const bool is_indicator = feature.first.transform == record::Transform::indicator && !feature.second;
  if (is_indicator && column.profile.count() > 0 && column.profile.largest() <= 0)
    column.never = feature.first.equals;
}

/// Whether the term asks for texts of the settings that have more than ASCII, which is the same in most encodings.
bool is_compared_with_more_than_ascii(const record::Term& term) {
  const auto has_more = [](const std::string& text) {
    return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  };
  if (term.transform == record::Transform::indicator) return has_more(term.equals);
  return term.transform == record::Transform::other && std::ranges::any_of(term.labels, has_more);
}

std::string start_in_words(const config::Config& config) {
  const std::vector<double>& start = config.descent.start;
  const bool is_zero = std::all_of(start.begin(), start.end(), [](double value) { return value == 0; });
  return is_zero ? "theta = 0" : config.moments ? "theta = moments.start" : "theta = descent.start";
}

}  // namespace

DataCheck::DataCheck(const config::Config& config, const config::Mechanism* mechanism, bool is_one_step)
    : config_(config),
      mechanism_(mechanism),
      rows_of_step_(is_one_step ? std::numeric_limits<std::size_t>::max() : config.descent.minibatch),
      dimension_(config.schema.dimension()),
      schema_(config.schema) {
  found_.to_measure = config.measuring.keys;
  found_.clips_are_known = mechanism != nullptr;
  found_.start = start_in_words(config);
  found_.tally.of_sums = config.moments.has_value();
  found_.tally.of_users = config.users.has_value();
  begin_gate();
  for (const record::Feature& feature : config.schema.features) {
    found_.columns.push_back(column_of(feature, config, fmt::format("features.{}", found_.columns.size())));
  }
  found_.target_has_units = config.schema.labels > 0 || config.descent.loss.kind == model::Loss::Kind::poisson;
  if (config.schema.target) found_.target = column_of(*config.schema.target, config, "target");
  if (config.schema.weight) look_at_amount(amount_of(*config.schema.weight), found_.weight);
  if (config.schema.exposure) look_at_amount(amount_of(*config.schema.exposure), found_.exposure);
  look_at_texts();
  if (config.schema.labels == 0) return;
  // A separate feature counts the texts of labels: the target's own reading is a number, from which the text cannot
  // be recovered.
  labels_ = std::make_unique<LabelTexts>();
  taken_.resize(LabelTexts::texts_max + 1);
  record::Term texts{config.schema.target->first.column, record::Transform::custom, {}, {}, labels_.get()};
  schema_.features.push_back({.name = "labels", .first = std::move(texts), .second = {}});
}

/// Reads and profiles how much records count, beside the row. Neither decides whether a record can be used.
void DataCheck::look_at_amount(record::Feature feature, std::optional<ColumnFinding>& finding) {
  finding = column_of(feature);
  schema_.features.push_back(std::move(feature));
}

/// Counts texts that cannot be equal to one of the settings only because of their encoding.
void DataCheck::look_at_texts() {
  for (const record::Feature& feature : config_.schema.features) {
    for (const record::Term* const term : {&feature.first, feature.second ? &*feature.second : nullptr}) {
      if (term == nullptr || !is_compared_with_more_than_ascii(*term)) continue;
      const auto is_it = [&](const auto& each) { return each->column() == term->column; };
      if (std::ranges::any_of(foreign_, is_it)) continue;
      foreign_.push_back(std::make_unique<ForeignTexts>(term->column));
      record::Term texts{term->column, record::Transform::custom, {}, {}, foreign_.back().get()};
      schema_.features.push_back({.name = "encoding", .first = std::move(texts), .second = {}});
    }
  }
}

/// Limits hold over the steps of one lane. Those of a table let every user take part in every step.
void DataCheck::begin_gate() {
  if (!config_.users || !config_.users->are_kept) return;
  if (gate_) used_up_before_ += gate_->beyond_limits();
  gate_.emplace(*config_.users->limits, rows_of_step_);
}

/// Makes the schema of one partition. The key is drawn for this look alone. Where lanes follow from the users'
/// hashes, the stream's own key divides the users in another way, but into lanes of about the same size.
record::Schema DataCheck::schema_of_lane(const users::LaneOfUsers& lane) {
  record::Schema schema = schema_;
  if (!schema.user) return schema;
  identifiers_ = std::make_unique<users::Identifiers>(config::partitioner_of(config_), lane);
  identifiers_->use(users::UserKey::draw());
  schema.user->reader = identifiers_.get();
  begin_gate();
  return schema;
}

void DataCheck::profile(const record::RowBatch& rows, std::size_t row) {
  const double* const x = rows.x.data() + row * rows.dimension + (schema_.intercept ? 1 : 0);
  for (std::size_t j = 0; j < found_.columns.size(); ++j) {
    add(config_.schema.features[j], x[j], found_.columns[j]);
  }
  if (found_.target) add(*config_.schema.target, rows.y[row], *found_.target);
  std::size_t next = found_.columns.size();
  for (std::optional<ColumnFinding>* const amount : {&found_.weight, &found_.exposure}) {
    if (!*amount) continue;
    add(schema_.features[next], x[next], **amount);
    ++next;
  }
}

void DataCheck::take(record::RowBatch& rows) {
  // Gradients are taken without the feature that counts texts, because the run's rows do not have it.
  std::vector<double> without_texts;
  without_texts.reserve(rows.count() * dimension_);
  auto reject = rows.rejects.begin();
  for (std::size_t row = 0; row < rows.count(); ++row) {
    const auto begin = rows.x.begin() + static_cast<std::ptrdiff_t>(row * rows.dimension);
    without_texts.insert(without_texts.end(), begin, begin + static_cast<std::ptrdiff_t>(dimension_));
    // Rejects are in the order of rows, so one pass meets each of them.
    if (reject != rows.rejects.end() && reject->position.value() + 1 == rows.next[row]) {
      ++reject;
    } else {
      profile(rows, row);
      if (!rows.users.empty()) count_user(rows.users[row]);
      if (labels_) ++taken_[static_cast<std::size_t>(rows.x[(row + 1) * rows.dimension - 1])];
    }
  }
  found_.tally.records += rows.count();
  found_.tally.add(rows.rejects);
  if (gate_) gate_->take(rows, users_max);
  if (mechanism_ != nullptr) count_clips_of(rows, without_texts);
  rows.clear();
}

void DataCheck::count_user(const record::RowUser& user) {
  // The limit bounds memory, and the output says "or more" there.
  if (user.is_nobody() || users_seen_.size() == users_max) return;
  users_seen_.emplace(user.high, user.low);
}

void DataCheck::count_clips_of(const record::RowBatch& rows, const std::vector<double>& without_texts) {
  const record::RowSlice looked_at{dimension_,
                                   rows.count(),
                                   without_texts.data(),
                                   rows.y.data(),
                                   nullptr,
                                   rows.users.empty() ? nullptr : rows.users.data(),
                                   rows.weights.empty() ? nullptr : rows.weights.data()};
  const ClipCount clips =
      count_clips(config_, *mechanism_, looked_at, rows.count() - rows.rejects.size(), rows_of_step_);
  found_.tally.gradients += clips.gradients;
  found_.tally.clipped += clips.clipped;
}

std::size_t DataCheck::rows_together() const noexcept {
  constexpr std::size_t about = 2048;
  if (!found_.tally.of_users) return about;
  // This comes first, because the sum below could overflow for a table that is one step.
  if (rows_of_step_ > about) return rows_of_step_;
  return (about + rows_of_step_ - 1) / rows_of_step_ * rows_of_step_;
}

/// Whether the run refuses a label of this text. The text is read as the decoder reads it: in CSV, for example, words
/// for true and false are numbers.
bool DataCheck::refuses(const std::string& label) const {
  record::Schema target_alone;
  target_alone.target = config_.schema.target;
  target_alone.labels = config_.schema.labels;
  const record::RowBuilder builder(target_alone);
  std::vector<double> readings;
  for (const record::Field& field : builder.fields()) {
    readings.push_back(decode::read_text(field, label, config_.input));
  }
  double y = 0;
  return !builder.build(readings.data(), nullptr, y);
}

namespace {

using Label = std::pair<std::string, std::uint64_t>;

bool stands_for_nothing(const std::string& text) {
  constexpr std::array nothing{"", "NA", "N/A", "na", "n/a", "NaN", "nan", "null", "NULL", "None", "?", "-", "."};
  return std::find(nothing.begin(), nothing.end(), text) != nothing.end();
}

/// The order of classes, class 0 first: numbers by their size, words by the alphabet, in which no, false and negative
/// come first.
bool comes_before(const std::string& one, const std::string& other) {
  const auto a = record::parse_number(one);
  const auto b = record::parse_number(other);
  return a && b ? *a < *b : one < other;
}

/// Whether the text can be typed as a name: it holds no control characters, and no bytes that are no characters, in
/// whose place JSON's decoder has control characters.
bool can_be_typed(const std::string& text) {
  const bool is_plain = std::ranges::none_of(text, [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
  return is_plain && decode::as_utf8(text) == text;
}

/// Why model.labels cannot name all of the texts that were found; "" where it can.
std::string fault_of_labels(const Findings& found) {
  std::string fault;
  for (const std::vector<Label>* labels : {&found.taken_labels, &found.refused_labels}) {
    for (const auto& [text, count] : *labels) {
      if (text.size() > LabelTexts::bytes_max) {
        return fmt::format("some labels are longer than {} bytes, and are not shown whole", LabelTexts::bytes_max);
      }
      if (!config::is_utf8(text)) return config::not_utf8("some labels are");
      if (!can_be_typed(text)) fault = "some labels are not UTF-8, or hold control characters: write them otherwise";
    }
  }
  return fault;
}

/// `model.labels = […]` with the texts that were found, behind `model.classes` where there are not as many of them as
/// the settings have; empty where there are more of them than there may be classes, or fewer than two.
std::string setting_of(const Findings& found, std::size_t classes) {
  constexpr std::size_t classes_max = 8;
  std::vector<std::string> texts;
  for (const std::vector<Label>* labels : {&found.taken_labels, &found.refused_labels}) {
    for (const auto& [text, count] : *labels) {
      if (!stands_for_nothing(text)) texts.push_back(text);
    }
  }
  const std::size_t most = classes == 2 ? classes : classes_max;
  if (texts.size() < 2 || texts.size() > most || found.refused_others > 0) return {};
  std::sort(texts.begin(), texts.end(), comes_before);
  std::string setting = texts.size() != classes ? fmt::format("model.classes = {}, ", texts.size()) : std::string();
  setting += "model.labels = [";
  for (const std::string& text : texts) {
    if (setting.back() != '[') setting += ", ";
    publish::append_string(text, setting);
  }
  return setting + "]";
}

}  // namespace

/// Sorts the texts into labels that are taken and labels that are refused. A text that a usable record has is taken.
/// Another text is refused where it is no label by itself and some record was refused for its label.
void DataCheck::find_labels(Findings& found) const {
  const bool any = std::any_of(found.tally.reasons.begin(), found.tally.reasons.end(),
                               [](const auto& each) { return is_of_label(each.first); });
  for (const auto& [text, count] : labels_->counts()) {
    const std::uint64_t taken = taken_[count.number];
    if (taken > 0) {
      found.taken_labels.emplace_back(text, taken);
    } else if (any && refuses(text)) {
      found.refused_labels.emplace_back(text, count.records);
    }
  }
  found.refused_others = labels_->others();
  const std::size_t seen = found.taken_labels.size();
  if (found.refused_others == 0 && seen < config_.schema.labels)
    found.classes_without_records = config_.schema.labels - seen;
  if (found.refused_labels.empty()) return;
  found.label_fault = fault_of_labels(found);
  if (found.label_fault.empty()) found.label_setting = setting_of(found, config_.schema.labels);
}

void DataCheck::note_end_of_input() {
  found_.no_step = config::too_few_for_a_step(config_, found_.tally.records);
}

void DataCheck::note_long_record(const config::LongestRecord& longest) {
  found_.long_record = long_record(longest);
}

Findings DataCheck::findings(const std::string& source) const {
  Findings found = found_;
  found.source = source;
  if (config_.users) found.users = users_seen_.size();
  if (gate_) {
    found.tally.used_up = used_up_before_ + gate_->beyond_limits();
    const auto& windows = config_.users->limits->windows();
    if (windows && windows->times_are_trusted) found.tally.windows = windows_seen(gate_->clock());
    found.is_used_up_known = true;
  }
  for (const auto& texts : foreign_) {
    if (std::string words = texts->in_words(); !words.empty()) found.foreign.push_back(std::move(words));
  }
  for (std::size_t j = 0; j < found.columns.size(); ++j) {
    look_for_text(config_.schema.features[j], found.columns[j]);
  }
  if (found.target) look_for_text(*config_.schema.target, *found.target);
  const bool lacks_members = std::any_of(found.tally.reasons.begin(), found.tally.reasons.end(),
                                         [](const auto& each) { return each.first.ends_with(": missing"); });
  if (lacks_members) {
    const std::vector<std::string> wanted = decode::wanted_columns(config_.input, config_.schema);
    found.missing = members_.missing(wanted, config_.input.envelope);
    if (!found.missing.empty()) found.present = members_.listed(config_.input.envelope);
  }
  if (labels_ && !config_.schema.target->second) find_labels(found);
  return found;
}

}  // namespace nustream::check
