#include "audit/canary.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "error.h"
#include "nustream/model/loss.h"
#include "nustream/record/row.h"
#include "publish/json_text.h"

namespace nustream::audit {
namespace {

constexpr double magnitudes[] = {1, 2, 0.5, 10, 100, 1e3, 1e4, 1e6, 0.1, -1, -10, -100, -1e3};
constexpr double targets[] = {1e9, 1e6, 1e3, 10, 1, 0, -10, -1e3, -1e6, -1e9};

/// One value for every feature's column, one for the target's.
struct Values {
  double feature;
  double target;
};

class Writer {
 public:
  Writer(const config::Config& config, std::span<const record::Field> fields) : config_(config), fields_(fields) {
    if (config.input.format == decode::Format::csv && !config.input.header) {
      columns_ = config.input.columns;
      return;
    }
    for (const record::Field& field : fields) {
      if (std::find(columns_.begin(), columns_.end(), field.column) == columns_.end())
        columns_.push_back(field.column);
    }
  }

  [[nodiscard]] std::string header() const {
    if (config_.input.format != decode::Format::csv || !config_.input.header) return {};
    return joined(columns_);
  }
  [[nodiscard]] std::string null() const { return config_.input.format == decode::Format::csv ? "\"" : "null"; }

  /// What a column's field holds.
  [[nodiscard]] std::string text(const std::string& column, const Values& values) const {
    const record::Field* const field = field_of(column);
    if (field == nullptr) return "0";
    if (field->reading == record::Reading::equals) return field->equals;
    if (field->reading != record::Reading::number) return "2024-01-06T23:00:00Z";
    const bool is_target = config_.schema.target && config_.schema.target->first.column == column;
    return fmt::format("{}", is_target ? values.target : values.feature);
  }

  [[nodiscard]] std::string record(const Values& values) const {
    std::vector<std::string> texts;
    texts.reserve(columns_.size());
    for (const std::string& column : columns_) texts.push_back(text(column, values));
    if (config_.input.format == decode::Format::csv) return joined(texts);
    std::string object;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      object += i == 0 ? '{' : ',';
      publish::append_string(columns_[i], object);
      (object += ':') += quoted(columns_[i], texts[i]);
    }
    return object + "}";
  }

 private:
  [[nodiscard]] const record::Field* field_of(const std::string& column) const {
    const auto found = std::find_if(fields_.begin(), fields_.end(),
                                    [&](const record::Field& field) { return field.column == column; });
    return found == fields_.end() ? nullptr : &*found;
  }
  [[nodiscard]] std::string quoted(const std::string& column, const std::string& text) const {
    const record::Field* const field = field_of(column);
    if (field == nullptr || field->reading == record::Reading::number) return text;
    std::string quoted;
    publish::append_string(text, quoted);
    return quoted;
  }
  [[nodiscard]] std::string joined(const std::vector<std::string>& texts) const {
    std::string line;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (i > 0) line += config_.input.delimiter;
      line += in_quotes(texts[i]);
    }
    return line;
  }
  /// As a CSV field: a column's name may hold the delimiter.
  [[nodiscard]] std::string in_quotes(const std::string& text) const {
    if (text.find_first_of(std::string{'"', config_.input.delimiter}) == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + '"';
  }

  const config::Config& config_;
  std::span<const record::Field> fields_;
  std::vector<std::string> columns_;
};

/// The gradient at θ_0 of such a record, read back from its text; nothing where it cannot be used.
std::optional<Eigen::VectorXd> gradient(const config::Config& config, const record::RowBuilder& builder,
                                        const Writer& writer, const Values& values) {
  std::vector<double> readings;
  for (const record::Field& field : builder.fields()) {
    readings.push_back(record::read_field(field, writer.text(field.column, values)));
  }
  std::vector<double> x(builder.dimension());
  double y = 0;
  if (!builder.build(readings.data(), x.data(), y)) return std::nullopt;
  const std::vector<double> g = model::gradient(config.descent.loss, config.descent.start, x, y);
  return Eigen::Map<const Eigen::VectorXd>(g.data(), static_cast<Eigen::Index>(g.size()));
}

void refuse(const config::Config& config, const char* why) {
  throw Failure(Exit::configuration, config.file + ": an audit plays games of " + std::string(why));
}

}  // namespace

Canary find_canary(const config::Config& config) {
  if (config.descent.first_stage || config.descent.moments) refuse(config, "one stage; audit its settings apart");
  if (config.descent.loss.kind == model::Loss::Kind::multinomial) refuse(config, "one predictor, not of classes");
  const record::RowBuilder builder(config.schema);
  const Writer writer(config, builder.fields());
  const double clip = config.descent.clip.value();
  for (const double feature : magnitudes) {
    std::optional<Values> found;
    Eigen::VectorXd direction;
    for (const double target : targets) {
      const Values values{feature, target};
      const auto g = gradient(config, builder, writer, values);
      if (!g || !(g->norm() >= clip) || !std::isfinite(g->norm())) continue;
      const Eigen::VectorXd unit = *g / g->norm();
      if (!found) {
        found = values;
        direction = unit;
      } else if (unit.dot(direction) < -1 + 1e-12) {
        return {writer.header(), writer.null(), writer.record(*found), writer.record(values), direction};
      }
    }
    if (found && config.privacy.adjacency == privacy::Adjacency::zero_out) {
      return {writer.header(), writer.null(), writer.record(*found), "", direction};
    }
    // The mean has no target: its opposite has the other features.
    const auto mirrored = found ? gradient(config, builder, writer, {-feature, 0}) : std::nullopt;
    if (mirrored && mirrored->dot(direction) < -clip * (1 - 1e-12)) {
      return {writer.header(), writer.null(), writer.record(*found), writer.record({-feature, 0}), direction};
    }
  }
  refuse(config,
         "a record whose gradient is as long as the clip norm, and no such record was found: clamp the columns "
         "less tightly, or lower the clip norm");
  return {};
}

}  // namespace nustream::audit
