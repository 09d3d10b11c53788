#include "audit/canary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "audit/record_writer.h"
#include "audit/stages.h"
#include "error.h"
#include "nustream/record/row.h"

namespace nustream::audit {
namespace {

constexpr double magnitudes[] = {1, 2, 0.5, 5, 10, 20, 50, 100, 1e3, 1e4, 1e6, 0.1};
/// A gradient this many times the clip norm stays longer than that whatever the noise does, or nearly so.
constexpr double ample = 4;
/// Cosine below which two gradients are opposite: their difference is 2.5e-4 short of twice as long.
constexpr double opposite = -1 + 1e-3;
constexpr double targets[] = {1e9, 1e6, 1e3, 10, 1, 0, -10, -1e3, -1e6, -1e9};

/// A record that can be used, read back from its text.
struct Candidate {
  Values values;
  Row row;
  std::vector<Contribution> added;  ///< to the stages of the first step that it takes part in, without noise
  double reach = 0;                 ///< the least of its steps
};

/// Of the stages' lengths, up to what is ample; among equals the longer ones come first.
double reach_of(const std::vector<Contribution>& added) {
  constexpr double among_equals = 1e-3;
  double reach = 0;
  for (const Contribution& each : added) {
    reach += std::min(each.length, ample) + among_equals * each.length / (1 + each.length);
  }
  return reach;
}

/// Plays its steps where there is no noise. False where one of its gradients is beyond the numbers.
bool play_without_noise(const lane::Settings& settings, const GameShape& shape, Candidate& candidate) {
  Eigen::VectorXd theta = start_of(settings);
  candidate.reach = std::numeric_limits<double>::infinity();
  for (std::uint64_t step = 0; step <= shape.at.back(); ++step) {
    std::vector<Contribution> added;
    if (std::binary_search(shape.at.begin(), shape.at.end(), step)) {
      added = contributions(settings, theta, candidate.row.x, candidate.row.y);
      for (const Contribution& each : added) {
        if (!std::isfinite(each.length)) return false;
      }
      candidate.reach = std::min(candidate.reach, reach_of(added));
      if (step == shape.at.front()) candidate.added = added;
    }
    step_without_noise(settings, StepIndex{step}, added, candidate.row.x, theta);
  }
  return true;
}

std::optional<Row> row_of(const record::RowBuilder& builder, const RecordWriter& writer, const Values& values) {
  std::vector<double> readings;
  for (const record::Field& field : builder.fields()) {
    readings.push_back(record::read_field(field, writer.text(field.column, values)));
  }
  Row row{std::vector<double>(builder.dimension()), 0};
  if (!builder.build(readings.data(), row.x.data(), row.y)) return std::nullopt;
  return row;
}

/// Nothing where the record cannot be used, or none of its gradients is as long as its clip norm.
std::optional<Candidate> candidate(const config::Config& config, const GameShape& shape,
                                   const record::RowBuilder& builder, const RecordWriter& writer,
                                   const Values& values) {
  const auto row = row_of(builder, writer, values);
  if (!row) return std::nullopt;
  Candidate made{values, *row, {}, 0};
  if (!play_without_noise(config.descent, shape, made)) return std::nullopt;
  const auto is_long = [](const Contribution& added) { return added.length >= 1; };
  if (std::none_of(made.added.begin(), made.added.end(), is_long)) return std::nullopt;
  return made;
}

/// Whether the descents' gradients of the two have different signs. Second moments have none; and where features are
/// public, the first stage's gradients are the same.
bool are_opposite(const config::Config& config, const Candidate& first, const Candidate& second) {
  const bool target_only = config.privacy.protects == config::Protects::target;
  if (target_only &&
      (first.values.feature != second.values.feature || first.values.endogenous != second.values.endogenous)) {
    return false;
  }
  const std::size_t descents = config.descent.first_stage && config.descent.first_stage->clip && !target_only ? 2 : 1;
  bool any = false;
  for (std::size_t i = 0; i < descents; ++i) {
    const Eigen::VectorXd& one = first.added[i].clipped;
    const Eigen::VectorXd& two = second.added[i].clipped;
    const double lengths = one.norm() * two.norm();
    if (lengths == 0) continue;  // as of a second stage whose first one has not begun
    if (!(one.dot(two) < opposite * lengths)) return false;
    any = true;
  }
  return any;
}

/// Whose gradients are opposite, and of zero-out neighbours any: `second` is nothing.
struct Pair {
  Candidate first;
  std::optional<Candidate> second;
  [[nodiscard]] double reach() const { return second ? std::min(first.reach, second->reach) : first.reach; }
};

void offer(std::optional<Pair>& best, const Candidate& first, const Candidate* second) {
  const double reach = second == nullptr ? first.reach : std::min(first.reach, second->reach);
  if (best && !(reach > best->reach())) return;
  best = second == nullptr ? Pair{first, std::nullopt} : Pair{first, *second};
}

void look_for_pairs(const config::Config& config, const std::vector<Candidate>& candidates,
                    std::optional<Pair>& best) {
  const bool opposites = config.privacy.adjacency == privacy::Adjacency::replace_one;
  for (const Candidate& first : candidates) {
    if (!opposites) offer(best, first, nullptr);
    for (const Candidate& second : candidates) {
      if (opposites && are_opposite(config, first, second)) offer(best, first, &second);
    }
  }
}

std::vector<Candidate> candidates_of(const config::Config& config, const GameShape& shape,
                                     const record::RowBuilder& builder, const RecordWriter& writer,
                                     double magnitude) {
  std::vector<Candidate> candidates;
  for (const double feature : {magnitude, -magnitude}) {
    for (const double endogenous : {magnitude, -magnitude}) {
      if (!config.descent.first_stage && endogenous < 0) continue;
      for (const double target : targets) {
        auto made = candidate(config, shape, builder, writer, {feature, endogenous, target});
        if (made) candidates.push_back(std::move(*made));
      }
    }
  }
  return candidates;
}

[[noreturn]] void refuse(const config::Config& config, const char* why) {
  throw Failure(Exit::configuration, config.file + ": an audit plays games of " + std::string(why));
}

}  // namespace

Canary find_canary(const config::Config& config, const GameShape& shape) {
  const record::RowBuilder builder(config.schema);
  const RecordWriter writer(config, builder.fields());
  const double ample_reach = ample * static_cast<double>(lane::stages(config.descent).size());
  std::optional<Pair> best;
  for (const double magnitude : magnitudes) {
    look_for_pairs(config, candidates_of(config, shape, builder, writer, magnitude), best);
    if (best && best->reach() >= ample_reach) break;
  }
  if (!best) {
    refuse(config,
           "a record whose gradient is as long as the clip norm, and no such record was found: clamp the columns "
           "less tightly, or lower the clip norm");
  }
  Canary canary{writer.header(), writer.null(),   writer.record(best->first.values),
                writer.null(),   best->first.row, {}};
  if (best->second) {
    canary.absent = writer.record(best->second->values);
    canary.absent_row = best->second->row;
  } else if (config.privacy.protects == config::Protects::target) {
    Values values = best->first.values;
    values.target = std::numeric_limits<double>::quiet_NaN();
    if (row_of(builder, writer, values)) refuse(config, "a record without a target, and here every text is one");
    canary.absent = writer.record(values);
  }
  return canary;
}

}  // namespace nustream::audit
