// The search for the canary. Records of a list of magnitudes and targets are written as text, read back by the
// shipped row builder, and played without noise; the one that shows most of the claim is taken. With replace-one
// neighbours a pair is looked for: opposite gradients in a descent, in running sums the two rows that are furthest
// apart.
#include "audit/canary.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "audit/record_writer.h"
#include "audit/stages.h"
#include "audit/sums_stages.h"
#include "config/moments.h"
#include "error.h"
#include "nustream/record/row.h"

namespace nustream::audit {
namespace {

/// The magnitudes of features that are tried. The last two are for logarithms: theirs lie about 20 from that of 1.
constexpr double magnitudes[] = {1, 2, 0.5, 5, 10, 20, 50, 100, 1e3, 1e4, 1e6, 0.1, 1e9, 1e-9};
/// A gradient that is this many clip norms long stays longer than the clip norm in nearly every game, whatever the
/// noise does to the iterate.
constexpr double ample = 4;
/// The cosine below which two gradients count as opposite: the length of their difference is then at most 2.5e-4
/// short of twice the clip norm.
constexpr double opposite = -1 + 1e-3;
/// The weights that are tried, in units of the public bound on weights. Both are above the bound, because a record
/// cannot count as more and the lane has to cut them. The second stays above the bound under a map such as the
/// logarithm.
constexpr double weights[] = {2, 1e3};
constexpr double targets[] = {1e9, 1e6, 1e3, 10, 1, 0, -10, -1e3, -1e6, -1e9};
/// Targets under a logarithm have no sign. Those below 1 have logarithms below 0, as far from 0 as those of large
/// ones.
constexpr double logarithmic_targets[] = {1e9, 1e6, 1e3, 10, 1, 0.1, 1e-3, 1e-6, 1e-9};

/// What the search for a canary needs at every record that it tries.
struct Search {
  const config::Config& config;
  const config::Mechanism& mechanism;
  const GameShape& shape;
  const record::RowBuilder& builder;
  const RecordWriter& writer;
  std::optional<moments::Settings> sums{};  ///< of a model that is solved from sums
};

/// A record that can be used, read back from its text.
struct Candidate {
  Values values;
  Row row;
  std::vector<Contribution> added;  ///< to the stages in the first step that it takes part in, without noise
  double reach = 0;                 ///< smallest reach_of() among the steps that it takes part in
};

/// The share of ρ that a record shows with gradients of these lengths. Two small terms decide between records that
/// show the same share. They grow with the length beyond the clip norm, which is a reserve where noise shortens the
/// gradients.
double reach_of(const config::Mechanism& mechanism, const std::vector<Contribution>& added) {
  constexpr double of_ample = 1e-2;
  constexpr double of_all = 1e-5;
  double rho = 0;
  for (const config::CalibratedStage& stage : mechanism.stages) rho += stage.rho.value();
  double reach = 0;
  for (std::size_t i = 0; i < added.size(); ++i) {
    const double share = mechanism.stages[i].rho.value() / rho;
    const double length = added[i].length;
    const double shown = std::min(length, 1.0);
    reach += share * (shown * shown + of_ample * std::min(length / ample, 1.0) + of_all * length / (1 + length));
  }
  return reach;
}
/// The smallest reach_of() of a record whose gradients are all ample.
constexpr double ample_reach = 1 + 1e-2;

/// Moves a private first stage to where the noise of one step takes it. Otherwise it would stay at 0, and there a
/// second stage without controls has no gradient.
Eigen::VectorXd after_some_noise(const Search& search, Eigen::VectorXd theta) {
  const auto& first = search.config.descent.first_stage;
  if (!first || !first->clip) return theta;
  const double noise =
      search.mechanism.stages[1].stddev.value() / static_cast<double>(search.config.descent.minibatch);
  theta.tail(static_cast<Eigen::Index>(first->shape.first_stage())).array() +=
      first->schedule.at(StepIndex{0}) * noise;
  return theta;
}

/// Sums the contributions up where the unit is the user: all records of a step are the canary's then, and their sum
/// is clipped.
void sum_up_rows(const Search& search, std::vector<Contribution>& added) {
  if (!search.config.users) return;
  const auto records = static_cast<double>(search.config.descent.minibatch);
  search.sums ? sum_up_together(added, records) : sum_up(added, records);
}

/// Plays the first step of running sums. Later steps are not played, because the noise decides where their centres
/// are.
void play_first_step(const Search& search, Candidate& candidate) {
  const moments::Settings& settings = *search.sums;
  candidate.added = contributions(settings.mechanism.design, aim_at_start(settings), candidate.row.x, candidate.row.y,
                                  candidate.row.weight);
  sum_up_rows(search, candidate.added);
  candidate.reach = reach_of(search.mechanism, candidate.added);
}

/// Plays the record's steps with next to no noise. Returns false where one of its gradients is not finite.
bool play_without_noise(const Search& search, Candidate& candidate) {
  if (search.sums) {
    play_first_step(search, candidate);
    return true;
  }
  const lane::Settings& settings = search.config.descent;
  const GameShape& shape = search.shape;
  Eigen::VectorXd theta = seen_at_start(settings).theta;
  Eigen::VectorXd velocity;
  candidate.reach = std::numeric_limits<double>::infinity();
  for (std::uint64_t step = 0; step <= shape.at.back(); ++step) {
    std::vector<Contribution> added;
    if (std::binary_search(shape.at.begin(), shape.at.end(), step)) {
      added = contributions(settings, after_some_noise(search, theta), candidate.row.x, candidate.row.y,
                            candidate.row.weight);
      sum_up_rows(search, added);
      for (const Contribution& each : added) {
        if (!std::isfinite(each.length)) return false;
      }
      candidate.reach = std::min(candidate.reach, reach_of(search.mechanism, added));
      if (step == shape.at.front()) candidate.added = added;
    }
    step_without_noise(settings, StepIndex{step}, added, candidate.row.x, theta, velocity, candidate.row.weight);
  }
  return true;
}

/// Builds the row that the lane gets of these values. Returns false where the record cannot be used.
bool build(const Search& search, const Values& values, Row& row) {
  std::vector<double> readings;
  for (const record::Field& field : search.builder.fields()) {
    readings.push_back(record::read_field(field, search.writer.text(field.column, values)));
  }
  row = {std::vector<double>(search.builder.dimension()), 0};
  return search.builder.build(readings.data(), row.x.data(), row.y,
                              search.builder.has_weights() ? &row.weight : nullptr);
}

/// Whether at most one coordinate is not 0. What rounding leaves of a feature at its centre counts as 0.
bool lies_along_an_axis(const Contribution& added) {
  constexpr double rounding = 1e-12;
  return (added.clipped.array().abs() > rounding * added.clipped.norm()).count() <= 1;
}

/// Makes the record of these values. Returns nothing where it cannot be used, where none of its gradients is as long
/// as its clip norm, or where it has to lie along an axis and does not.
std::optional<Candidate> candidate(const Search& search, const Values& values) {
  Candidate made{values, {}, {}, 0};
  if (!build(search, values, made.row) || !play_without_noise(search, made)) return std::nullopt;
  const auto is_long = [](const Contribution& added) { return added.length >= 1; };
  if (std::none_of(made.added.begin(), made.added.end(), is_long)) return std::nullopt;
  if (search.shape.along_axis && !std::all_of(made.added.begin(), made.added.end(), lies_along_an_axis)) {
    return std::nullopt;
  }
  return made;
}

/// Whether two records may be replaced for each other. Where features are public, records differ in their targets
/// alone.
bool may_be_neighbours(const config::Config& config, const Candidate& first, const Candidate& second) {
  if (config.privacy.protects != config::Protects::target) return true;
  return first.values.feature == second.values.feature && first.values.endogenous == second.values.endogenous &&
         first.values.axis == second.values.axis && first.values.weight == second.values.weight;
}

/// Whether the gradients of the descents have opposite directions. Second moments are left out, because they have no
/// sign. The first stage is left out where features are public, because its gradients are the same in both.
bool are_opposite(const config::Config& config, const Candidate& first, const Candidate& second) {
  const bool target_only = config.privacy.protects == config::Protects::target;
  if (!may_be_neighbours(config, first, second)) return false;
  const std::size_t descents = config.descent.first_stage && config.descent.first_stage->clip && !target_only ? 2 : 1;
  for (std::size_t i = 0; i < descents; ++i) {
    const Eigen::VectorXd& one = first.added[i].clipped;
    const Eigen::VectorXd& two = second.added[i].clipped;
    if (!(one.dot(two) < opposite * one.norm() * two.norm())) return false;
  }
  return true;
}

/// Two records whose gradients are opposite. With zero-out neighbours there is one record, and `second` is empty.
struct Pair {
  Candidate first;
  std::optional<Candidate> second;
  double reach;
};

void offer(std::optional<Pair>& best, const Candidate& first, const Candidate* second, double reach) {
  if (best && !(reach > best->reach)) return;
  best = second == nullptr ? Pair{first, std::nullopt, reach} : Pair{first, *second, reach};
}

/// How far apart two rows are in running sums: Σ ‖difference‖²/stddev² over the blocks. No pair reaches the sum of
/// what each block could show by itself.
double apart(const Search& search, const Candidate& first, const Candidate& second) {
  double squares = 0;
  for (std::size_t i = 0; i < first.added.size(); ++i) {
    const double stddev = search.mechanism.stages[i].stddev.value();
    squares += (first.added[i].clipped - second.added[i].clipped).squaredNorm() / (stddev * stddev);
  }
  return squares;
}

void look_for_pairs(const Search& search, const std::vector<Candidate>& candidates, bool opposites,
                    std::optional<Pair>& best) {
  const config::Config& config = search.config;
  for (const Candidate& first : candidates) {
    if (!opposites) {
      offer(best, first, nullptr, first.reach);
      continue;
    }
    for (const Candidate& second : candidates) {
      if (search.sums) {
        if (may_be_neighbours(config, first, second)) offer(best, first, &second, apart(search, first, second));
      } else if (are_opposite(config, first, second)) {
        offer(best, first, &second, std::min(first.reach, second.reach));
      }
    }
  }
}

/// For each record that is tried: the one column whose feature is not 0, or null where none is set to 0.
std::vector<const std::string*> axes_of(const Search& search) {
  static const std::string the_intercept;
  // In running sums the worst pairs of replace-one neighbours have nearly orthogonal inputs.
  const bool pairs = search.sums && search.config.privacy.adjacency == privacy::Adjacency::replace_one;
  if (!search.shape.along_axis && !pairs) return {nullptr};
  std::vector<const std::string*> axes{&the_intercept};
  if (pairs && !search.shape.along_axis) axes.push_back(nullptr);
  for (const record::Feature& feature : search.config.schema.features) axes.push_back(&feature.first.column);
  return axes;
}

/// The values that are tried in the columns that say how much a record counts, and over how long.
std::vector<Values> countings_of(const Search& search) {
  const record::Schema& schema = search.config.schema;
  Values plain{};
  if (schema.exposure) plain.exposure = schema.exposure->most;
  if (!schema.weight) return {plain};
  std::vector<Values> all;
  for (const double times : weights) {
    plain.weight = times * schema.weight->most;
    all.push_back(plain);
  }
  return all;
}

/// Adds finely spaced targets, for users in running sums: all sums of a user are shortened by one common factor.
/// Where the rows are shorter than their radius, the sums of xxᵀ and of r·x are both as long as claimed for one
/// length of r only. It lies between two of these targets.
void add_fine_targets(std::vector<double>& all, bool is_log) {
  constexpr int of_decade = 16;
  for (int i = -2 * of_decade; i <= 4 * of_decade; ++i) {
    const double size = std::pow(10, static_cast<double>(i) / of_decade);
    all.push_back(size);
    if (!is_log) all.push_back(-size);
  }
}

std::vector<double> targets_of(const Search& search) {
  const auto& target = search.config.schema.target;
  const bool is_log = target && target->first.transform == record::Transform::log;
  std::vector<double> all = is_log
                                ? std::vector<double>(std::begin(logarithmic_targets), std::end(logarithmic_targets))
                                : std::vector<double>(std::begin(targets), std::end(targets));
  if (search.sums && search.config.users) add_fine_targets(all, is_log);
  return all;
}

void add_candidates(const Search& search, double magnitude, const std::string* axis,
                    std::vector<Candidate>& candidates) {
  // A row of running sums is scaled by the length of its features alone, so that regressors this much larger are
  // still long after the scaling.
  const double beside = search.sums ? 1e4 * magnitude : magnitude;
  // Both signs of everything, because a clamp or a map such as the logarithm may leave one of them.
  for (const double feature : {magnitude, -magnitude}) {
    for (const double endogenous : {beside, -beside}) {
      if (!search.config.descent.first_stage && endogenous < 0) continue;
      for (const double target : targets_of(search)) {
        for (Values values : countings_of(search)) {
          values.feature = feature;
          values.endogenous = endogenous;
          values.target = target;
          values.axis = axis;
          auto made = candidate(search, values);
          if (made) candidates.push_back(std::move(*made));
        }
      }
    }
  }
}

std::vector<Candidate> candidates_of(const Search& search, double magnitude) {
  std::vector<Candidate> candidates;
  for (const std::string* const axis : axes_of(search)) add_candidates(search, magnitude, axis, candidates);
  return candidates;
}

Search search_of(const config::Config& config, const config::Mechanism& mechanism, const GameShape& shape,
                 const record::RowBuilder& builder, const RecordWriter& writer) {
  Search search{config, mechanism, shape, builder, writer};
  if (config.moments) search.sums = config::moments_settings(config, mechanism);
  return search;
}

/// The search stops at the first magnitude that shows the whole claim. For pairs in running sums the whole list is
/// tried: no pair shows the whole claim there, and apart() has another scale.
std::optional<Pair> best_of(const Search& search, bool opposites) {
  std::optional<Pair> best;
  for (const double magnitude : magnitudes) {
    look_for_pairs(search, candidates_of(search, magnitude), opposites, best);
    if (best && !(search.sums && opposites) && best->reach >= ample_reach) break;
  }
  return best;
}

[[noreturn]] void refuse(const config::Config& config, const char* why) {
  throw Failure(Exit::configuration, config.file + ": an audit plays games of " + std::string(why));
}

}  // namespace

double reach_of_canary(const config::Config& config, const config::Mechanism& mechanism, const GameShape& shape) {
  const record::RowBuilder builder(config.schema);
  const RecordWriter writer(config, builder.fields());
  const std::optional<Pair> best = best_of(search_of(config, mechanism, shape, builder, writer), false);
  return best ? best->reach : 0;
}

Canary find_canary(const config::Config& config, const config::Mechanism& mechanism, const GameShape& shape,
                   Absent absent) {
  const record::RowBuilder builder(config.schema);
  const RecordWriter writer(config, builder.fields());
  const Search search = search_of(config, mechanism, shape, builder, writer);
  const bool opposites = absent == Absent::neighbour && config.privacy.adjacency == privacy::Adjacency::replace_one;
  const std::optional<Pair> best = best_of(search, opposites);
  if (!best) {
    refuse(
        config,
        "a record whose gradient is as long as the clip norm, and no such record was found: clamp the columns "
        "less tightly, or lower the clip norm. Where the second stage has no controls, its gradient is 0 until the "
        "first stage has moved: let the record come later (--at). With --along-axis the record has to move a single "
        "coordinate of each stage");
  }
  Values without_target = best->first.values;
  without_target.target = std::numeric_limits<double>::quiet_NaN();
  Canary canary{writer.header(), writer.null(), writer.record(best->first.values), {}, best->first.row, {}, false};
  // Everybody knows the public columns, so the other records of a game have them too.
  if (config.schema.features_public) canary.null = writer.record(without_target);
  if (best->second) {
    Values of_another = best->second->values;
    // With another user's name the limits of one user are not used up by the other.
    of_another.user = "nustream-audit-other";
    canary.absent = writer.record(of_another);
    canary.absent_row = best->second->row;
    canary.opposite = true;
    return canary;
  }
  const bool target_only = config.privacy.protects == config::Protects::target;
  canary.absent = target_only ? writer.record(without_target) : canary.null;
  // A record without a target must be unusable; otherwise it would move the sums as any record does.
  if (build(search, without_target, canary.absent_row)) {
    if (target_only) refuse(config, "a record without a target, and here every text is a target (an indicator)");
    canary.absent_row = {std::vector<double>(builder.dimension()), 0, search.builder.has_weights() ? 0.0 : 1.0};
  }
  return canary;
}

}  // namespace nustream::audit
