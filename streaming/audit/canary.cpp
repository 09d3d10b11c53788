#include "audit/canary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "error.h"
#include "nustream/model/loss.h"
#include "nustream/record/row.h"
#include "publish/json_text.h"

namespace nustream::audit {
namespace {

constexpr double magnitudes[] = {1, 2, 0.5, 5, 10, 20, 50, 100, 1e3, 1e4, 1e6, 0.1};
/// A gradient this many times the clip norm stays longer than that whatever the noise does, or nearly so.
constexpr double ample = 4;
/// Cosine below which two gradients are opposite: their difference is 2.5e-4 short of twice as long.
constexpr double opposite = -1 + 1e-3;
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

/// A record that can be used, read back from its text.
struct Candidate {
  Values values;
  std::vector<double> x;
  double y = 0;
  Eigen::VectorXd unit;  ///< direction of its gradient at θ_0
  double reach = 0;      ///< its shortest gradient of a game, in clip norms
};

/// The shortest of its gradients in the steps that it takes part in, where there is no noise. 0 where one of them is
/// beyond the numbers.
double shortest(const lane::Settings& settings, const GameShape& shape, const Candidate& candidate) {
  Eigen::VectorXd theta =
      Eigen::Map<const Eigen::VectorXd>(settings.start.data(), static_cast<Eigen::Index>(settings.start.size()));
  double length = std::numeric_limits<double>::infinity();
  for (std::uint64_t step = 0; step <= shape.at.back(); ++step) {
    Eigen::VectorXd gradient = regulariser(settings, theta);
    if (std::binary_search(shape.at.begin(), shape.at.end(), step)) {
      const Contribution added = contribution(settings, theta, candidate.x, candidate.y);
      if (!std::isfinite(added.length)) return 0;
      length = std::min(length, added.length);
      gradient += added.clipped / static_cast<double>(settings.minibatch);
    }
    theta -= settings.schedule.at(StepIndex{step}) * gradient;
  }
  return length;
}

/// Nothing where the record cannot be used, or its gradient at θ_0 is shorter than the clip norm.
std::optional<Candidate> candidate(const config::Config& config, const GameShape& shape,
                                   const record::RowBuilder& builder, const Writer& writer, const Values& values) {
  std::vector<double> readings;
  for (const record::Field& field : builder.fields()) {
    readings.push_back(record::read_field(field, writer.text(field.column, values)));
  }
  Candidate made{values, std::vector<double>(builder.dimension()), 0, {}, 0};
  if (!builder.build(readings.data(), made.x.data(), made.y)) return std::nullopt;
  const lane::Settings& settings = config.descent;
  const Eigen::VectorXd start =
      Eigen::Map<const Eigen::VectorXd>(settings.start.data(), static_cast<Eigen::Index>(settings.start.size()));
  const Contribution first = contribution(settings, start, made.x, made.y);
  if (!(first.length >= settings.clip.value()) || !std::isfinite(first.length)) return std::nullopt;
  made.unit = first.clipped / settings.clip.value();
  made.reach = shortest(settings, shape, made) / settings.clip.value();
  return made;
}

/// Whose gradients have different signs, and of zero-out neighbours any: `second` is nothing.
struct Pair {
  Candidate first;
  std::optional<Candidate> second;
  [[nodiscard]] double reach() const { return second ? std::min(first.reach, second->reach) : first.reach; }
};

std::optional<Pair> best_pair(const std::vector<Candidate>& candidates, bool opposites) {
  std::optional<Pair> best;
  const auto offer = [&](Pair pair) {
    if (!best || pair.reach() > best->reach()) best = std::move(pair);
  };
  for (const Candidate& first : candidates) {
    if (!opposites) offer({first, std::nullopt});
    for (const Candidate& second : candidates) {
      if (opposites && first.unit.dot(second.unit) < opposite) offer({first, second});
    }
    if (best && best->reach() >= ample) break;
  }
  return best;
}

[[noreturn]] void refuse(const config::Config& config, const char* why) {
  throw Failure(Exit::configuration, config.file + ": an audit plays games of " + std::string(why));
}

}  // namespace

Contribution contribution(const lane::Settings& settings, const Eigen::VectorXd& theta, std::span<const double> x,
                          double y) {
  const std::vector<double> g =
      model::gradient(settings.loss, {theta.data(), static_cast<std::size_t>(theta.size())}, x, y);
  const double clip = settings.clip.value();
  Eigen::VectorXd gradient = Eigen::Map<const Eigen::VectorXd>(g.data(), static_cast<Eigen::Index>(g.size()));
  if (!gradient.allFinite()) {
    // A slope beyond the numbers, as of a Poisson loss: slope · x is clipped to x's direction, as the lane does.
    const auto features = static_cast<Eigen::Index>(x.size());
    Eigen::VectorXd direction = Eigen::VectorXd::Zero(gradient.size());
    for (Eigen::Index j = 0; j < gradient.size(); ++j) {
      const double entry = std::abs(x[static_cast<std::size_t>(j % features)]);
      if (entry > 0) direction(j) = std::copysign(entry, gradient(j));
    }
    return {direction.stableNormalized() * clip, std::numeric_limits<double>::infinity()};
  }
  const double length = gradient.stableNorm();
  if (length > clip) gradient = gradient.stableNormalized() * clip;
  return {std::move(gradient), length};
}

Eigen::VectorXd regulariser(const lane::Settings& settings, const Eigen::VectorXd& theta) {
  return (settings.l2 + model::own_regularisation(settings.loss.kind)) * theta;
}

Canary find_canary(const config::Config& config, const GameShape& shape) {
  if (config.descent.first_stage || config.descent.moments) refuse(config, "one stage; audit its settings apart");
  const record::RowBuilder builder(config.schema);
  const Writer writer(config, builder.fields());
  const bool opposites = config.privacy.adjacency == privacy::Adjacency::replace_one;
  std::optional<Pair> best;
  for (const double feature : magnitudes) {
    std::vector<Candidate> candidates;
    for (const double signed_feature : {feature, -feature}) {
      for (const double target : targets) {
        auto made = candidate(config, shape, builder, writer, {signed_feature, target});
        if (made) candidates.push_back(std::move(*made));
      }
    }
    auto pair = best_pair(candidates, opposites);
    if (pair && (!best || pair->reach() > best->reach())) best = std::move(pair);
    if (best && best->reach() >= ample) break;
  }
  if (!best) {
    refuse(config,
           "a record whose gradient is as long as the clip norm, and no such record was found: clamp the columns "
           "less tightly, or lower the clip norm");
  }
  return {writer.header(), writer.null(), writer.record(best->first.values),
          best->second ? writer.record(best->second->values) : std::string()};
}

}  // namespace nustream::audit
