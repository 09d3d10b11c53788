// Reads [model], [first_stage], [estimate] and the [intervals] of a descent. The checks here decide whether a
// combination has a proof or an error formula; where it has none, the setting is refused and not approximated.
#include <algorithm>
#include <cmath>
#include <set>

#include "config/read_sections.h"
#include "nustream/base/error.h"
#include "nustream/inference/path_status.h"

namespace nustream::config {
namespace {

using LossKind = model::Loss::Kind;

/// The number of labels that the loss defines; 0 where its target is any number.
std::size_t labels_of(const model::Loss& loss) {
  if (loss.kind == LossKind::logistic) return 2;
  return loss.kind == LossKind::multinomial ? loss.classes : 0;
}

double positive(const Section& section, const char* key, double fallback) {
  const double value = section.number(key).value_or(fallback);
  if (!(value > 0)) section.refuse(key, "a finite number > 0");
  return value;
}

model::Loss read_loss(const Section& section) {
  model::Loss loss;
  loss.kind = section.choice<LossKind>("loss", LossKind::linear,
                                       {{"mean", LossKind::mean},
                                        {"linear", LossKind::linear},
                                        {"huber", LossKind::huber},
                                        {"logistic", LossKind::logistic},
                                        {"poisson", LossKind::poisson},
                                        {"quantile", LossKind::quantile},
                                        {"multinomial", LossKind::multinomial}});
  loss.threshold = positive(section, "threshold", loss.threshold);
  loss.bandwidth = positive(section, "bandwidth", loss.bandwidth);
  loss.level = section.number("level").value_or(loss.level);
  if (!(loss.level > 0 && loss.level < 1)) section.refuse("level", "a number between 0 and 1");
  const std::vector<std::string> labels = section.texts("labels");
  auto classes = section.count("classes");
  // A list of labels tells how many classes there are.
  if (loss.kind == LossKind::multinomial && !classes) {
    if (labels.empty()) section.missing("classes");
    classes = labels.size();
  }
  if (classes) {
    if (*classes < 2 || *classes > 10'000) section.refuse("classes", "a whole number from 2 to 10000");
    loss.classes = static_cast<std::size_t>(*classes);
  }
  return loss;
}

/// Reads model.labels: the texts of the classes, in their order.
void read_labels(const Section& section, Config& config) {
  if (!section.has("labels")) return;
  const std::vector<std::string> labels = section.texts("labels");
  const std::size_t classes = labels_of(config.descent.loss);
  if (classes == 0)
    section.refuse("labels", "only with loss = \"logistic\" or \"multinomial\", whose target is a class");
  if (labels.size() != classes) {
    section.refuse("labels", std::to_string(classes) + " texts, one a class, class 0 first");
  }
  if (std::set<std::string>(labels.begin(), labels.end()).size() != labels.size()) {
    section.refuse("labels", "texts that differ");
  }
  const auto is_spaced = [](const std::string& label) {
    constexpr std::string_view spaces = " \t";
    return label.empty() || spaces.find(label.front()) != spaces.npos || spaces.find(label.back()) != spaces.npos;
  };
  if (std::any_of(labels.begin(), labels.end(), is_spaced)) {
    section.refuse("labels", "texts without spaces around them");
  }
  if (!config.schema.target) return;  // check_target() refuses it
  record::Feature& target = *config.schema.target;
  const bool is_plain = target.first.transform == record::Transform::identity && !target.second &&
                        std::isinf(target.lower) && std::isinf(target.upper);
  if (!is_plain) section.refuse("labels", "only where [target] is a column as it is, without transform and clamp");
  target.first.transform = record::Transform::label;
  target.first.labels = labels;
}

double read_share(const Section& section, double fallback) {
  const double share = section.number("share").value_or(fallback);
  if (!(share > 0 && share < 1)) section.refuse("share", "a number between 0 and 1");
  return share;
}

}  // namespace

void read_model(const Section& section, Config& config) {
  config.descent.loss = read_loss(section);
  const bool mean = config.descent.loss.kind == LossKind::mean;
  config.schema.intercept = section.flag("intercept").value_or(!mean);
  if (config.schema.intercept && mean) section.refuse("intercept", "false for the mean: it has no constant");
  config.schema.labels = labels_of(config.descent.loss);
  config.schema.counts = config.descent.loss.kind == LossKind::poisson;
  read_labels(section, config);
  config.descent.l2 = section.number("l2").value_or(0);
  if (!(config.descent.l2 >= 0)) section.refuse("l2", "a finite number >= 0");
}

namespace {

bool reads_a_column_of(const record::Feature& feature, const record::Feature& target) {
  for (const record::Term* own : {&feature.first, feature.second ? &*feature.second : nullptr}) {
    for (const record::Term* other : {&target.first, target.second ? &*target.second : nullptr}) {
      if (own != nullptr && other != nullptr && own->column == other->column) return true;
    }
  }
  return false;
}

}  // namespace

void check_private_target(const Section& section, std::string_view key, const Config& config) {
  const std::string allowed = key == "private" ? "true" : "\"record\"";
  if (!config.schema.target) return;  // check_target() refuses it
  const record::Feature& target = *config.schema.target;
  const std::string& column = target.first.column;
  for (const record::Feature& feature : config.schema.features) {
    if (!reads_a_column_of(feature, target)) continue;
    section.refuse(key, allowed + " while '" + feature.name + "' is made of the target's column, which is private");
  }
  if (target.second && target.second->column != column) {
    section.refuse(key, allowed + " while the target is made of two columns");
  }
  if (column == config.input.time_column) section.refuse(key, allowed + " while stream.time is the target's column");
  if (column == key_column) {
    section.refuse(key, allowed + " while the target is the key, which decides its record's partition");
  }
  if (column.starts_with(header_prefix)) return;
  if (!has_columns(config.input)) {
    section.refuse(
        key, allowed +
                 " with stream.format = \"jsonl\", where the target's text decides how the rest of its object is "
                 "read; use CSV with the target as its last column, or read the target from a header");
  }
  if (!config.input.columns.empty() && config.input.columns.back() != column) {
    section.refuse(key, allowed +
                            " unless the target is the last of stream.columns: what follows the columns before it "
                            "is its text, whatever that holds");
  }
}

namespace {

/// Reads the clip norm of a private first stage, and its share. A public first stage has neither.
std::optional<ClipNorm> read_first_clip(const Section& section, Config& config) {
  if (section.flag("private").value_or(true)) {
    config.shares.first_stage = read_share(section, 0.5);
    return section.required<ClipNorm>("clip_norm");
  }
  if (config.privacy.protects != Protects::target) {
    section.refuse(
        "private",
        "true where instruments and regressors are private: without noise the first stage carries each "
        "record into the gradients of all others, far beyond the clip norm. Where they are public, declare "
        "it: privacy.protects = \"target\"");
  }
  for (const char* key : {"clip_norm", "share"}) {
    if (section.has(key)) section.refuse(key, "nothing where private = false: the first stage costs nothing");
  }
  check_private_target(section, "private", config);
  config.shares.first_stage = 0;
  config.schema.features_public = true;
  return std::nullopt;
}

/// Reads the settings of the charged second moments of instruments and regressors.
void read_strength(const Section& section, Config& config) {
  const auto share = section.number("strength_share");
  const auto clip = section.as<ClipNorm>("strength_clip");
  if (!share) {
    if (clip) section.refuse("strength_clip", "only together with strength_share");
    return;
  }
  if (!(*share > 0 && *share < 1)) section.refuse("strength_share", "a number between 0 and 1");
  // Public rows have public second moments, for which nobody has to pay.
  if (!config.descent.first_stage->clip) {
    section.refuse("strength_share", "nothing where private = false: the strength of public columns is public");
  }
  if (!clip) section.missing("strength_clip");
  config.shares.strength = *share;
  config.descent.moments = lane::SecondMoments{*clip, std::nullopt, 0};
}

/// Refuses the settings of [privacy] that only a two-stage model has.
void refuse_of_one_stage(const Section& privacy, const Config& config) {
  if (config.privacy.protects != Protects::record) {
    privacy.refuse("protects", "\"record\" where there are no [[endogenous]] regressors");
  }
  if (config.privacy.calibration != Calibration::exact) {
    privacy.refuse("calibration", "\"exact\" where there are no [[endogenous]] regressors");
  }
}

}  // namespace

void read_first_stage(const Section& root, const TwoStageColumns& columns, Config& config) {
  const Section section = root.section("first_stage");
  if (columns.endogenous == 0) {
    if (root.has("first_stage")) root.refuse("first_stage", "only together with [[endogenous]] and [[instruments]]");
    refuse_of_one_stage(root.section("privacy"), config);
    return;
  }
  if (config.descent.loss.kind != LossKind::linear) {
    root.section("model").refuse("loss", "\"linear\" where there are [[endogenous]] regressors");
  }
  if (columns.instruments < columns.endogenous) {
    root.refuse("instruments", "at least as many [[instruments]] as [[endogenous]] regressors");
  }
  // The intercept counts as a control.
  const std::size_t controls = config.schema.dimension() - columns.instruments - columns.endogenous;
  config.descent.first_stage = lane::FirstStage{{controls + columns.instruments, controls, columns.endogenous},
                                                read_first_clip(section, config),
                                                read_schedule(section),
                                                section.number("l2").value_or(0)};
  if (!(config.descent.first_stage->l2 >= 0)) section.refuse("l2", "a finite number >= 0");
  read_strength(section, config);
}

namespace {

using Interval = Intervals::Kind;

/// `asked` is release.status. The status of a sandwich is told unless it is false, and its batches are kept all the
/// same, so that it can be told from any step on.
void read_batching(const Section& section, Purpose purpose, std::optional<bool> asked, Config& config) {
  descent::Batching batching;
  batching.batches = section.count("batches").value_or(batching.batches);
  batching.first_length = section.count("batch_steps").value_or(batching.first_length);
  if (batching.batches < 2) section.refuse("batches", "a whole number >= 2");
  if (batching.first_length == 0) section.refuse("batch_steps", "a whole number > 0");
  // Sandwich intervals have a status without being asked. Batches that are kept for that alone are no part of the
  // digest, and a state of an earlier version may lack them.
  const bool by_default = config.intervals.kind == Interval::sandwich && !asked.value_or(false);
  // Without a tail average there are no batches: a trail of iterates is judged instead (read_trail()).
  const bool by_request = asked.value_or(false) && config.descent.averaging.kind == descent::Averaging::Kind::tail;
  if (config.intervals.kind != Interval::batch_means && !by_default && !by_request) return;
  const std::uint64_t steps = config.estimate.steps;
  if (purpose == Purpose::table) {
    // The number of steps is known. So there are exactly as many batches as are asked for, all of one length.
    const bool is_sandwich = config.intervals.kind == Interval::sandwich;
    const std::uint64_t from = is_sandwich ? config.descent.averaging.from : config.intervals.burn_in;
    const std::uint64_t count = is_sandwich ? inference::enough_batches : config.intervals.count;
    batching = {from, count, from < steps ? std::max<std::uint64_t>((steps - from) / count, 1) : 1};
  } else {
    batching.from = config.descent.averaging.from;
  }
  batching.may_lack = by_default;
  batching.shown = !by_default || asked.value_or(true);
  config.descent.batching = batching;
}

/// Reads the bounds of the second moments that a sandwich needs, and refuses it where its formula does not hold.
void read_sandwich(const Section& section, Config& config) {
  const auto bread = section.as<ClipNorm>("second_moment_clip");
  const auto meat = section.as<ClipNorm>("squared_residual_clip");
  if (config.intervals.kind != Interval::sandwich) return;
  if (config.descent.loss.kind != LossKind::linear || config.descent.first_stage) {
    section.refuse("kind", "\"batch-means\": a sandwich is for the linear loss without [[endogenous]] regressors");
  }
  // The formula for the noise in an average is of a descent with constant step size (inference/average_noise.h).
  if (!std::holds_alternative<descent::Constant>(config.descent.schedule.family())) {
    section.refuse("kind", "\"batch-means\": a sandwich needs a constant step size");
  }
  if (!config.noise.correlation.toeplitz()) {
    section.refuse("kind", "\"batch-means\": what trees and dense correlations leave in an average is not known");
  }
  if (config.descent.l2 > 0 || !std::holds_alternative<descent::Unbounded>(config.descent.projection.family())) {
    section.refuse("kind",
                   "\"batch-means\": l2 and projections draw the average from the parameter that a sandwich covers");
  }
  if (!bread) section.missing("second_moment_clip");
  if (!meat) section.missing("squared_residual_clip");
  config.descent.moments = lane::SecondMoments{*bread, *meat, config.descent.averaging.from};
}

/// Reads [estimate]: how many steps are taken over a table.
void read_estimate(const Section& root, Purpose purpose, Config& config) {
  const Section section = root.section("estimate");
  const auto steps = section.count("steps");
  if (purpose != Purpose::table) return;
  if (!steps) section.missing("steps");
  if (*steps == 0) section.refuse("steps", "a whole number > 0");
  config.estimate.steps = *steps;
}

/// Checks that every checkpoint is a release: an interval is made of exactly the number of checkpoints that is asked
/// for, and only of what was released.
void check_checkpoints(const Section& section, const Config& config) {
  const Intervals& intervals = config.intervals;
  const std::uint64_t distance = (config.estimate.steps - intervals.burn_in) / intervals.count;
  const std::uint64_t every = config.descent.release_every;
  if (distance % every != 0) {
    section.refuse("count", "a number for which release.every divides the distance of checkpoints (" +
                                std::to_string(distance) + " steps): only released iterates count");
  }
  if (intervals.burn_in % every != 0) {
    section.refuse("burn_in",
                   "a multiple of release.every = " + std::to_string(every) + ": checkpoints are released");
  }
}

/// Checks intervals.averaged, which replaces the last iterate by the mean of several iterates. Those of a checkpoint
/// have to be releases, and no step may count twice.
void check_averaged(const Section& section, const Config& config) {
  const Intervals& intervals = config.intervals;
  if (intervals.averaged == 0)
    section.refuse("averaged", "a whole number of steps > 0; 1 for the last iterate alone");
  if (intervals.averaged == 1) return;
  const std::uint64_t every = config.descent.release_every;
  const bool runs = intervals.kind == Interval::runs;
  if (!runs && intervals.kind != Interval::checkpoints) {
    section.refuse("averaged", "1 but where intervals.kind is \"checkpoints\" or \"runs\"");
  }
  const std::uint64_t room =
      runs ? config.estimate.steps : (config.estimate.steps - intervals.burn_in) / intervals.count;
  if (intervals.averaged > room) {
    section.refuse("averaged", "at most the " + std::to_string(room) + " steps of a " +
                                   (runs ? "run" : "checkpoint: no iterate is in two of them"));
  }
  if (intervals.averaged % every != 0 || (runs && config.estimate.steps % every != 0)) {
    section.refuse("averaged", "steps that are released: release.every = " + std::to_string(every) + " divides them" +
                                   (runs ? ", and estimate.steps" : ""));
  }
}

/// Checks the intervals of a table: there have to be enough steps, and batches and sandwiches need the tail average
/// that they are about.
void check_table_intervals(const Section& section, Config& config) {
  const Intervals& intervals = config.intervals;
  const std::uint64_t steps = config.estimate.steps;
  const bool within_a_run = intervals.kind == Interval::batch_means || intervals.kind == Interval::checkpoints;
  constexpr std::uint64_t runs_max = 10'000;  // with that many runs each has next to no share of ρ
  if (intervals.count < 2) section.refuse("count", "a whole number >= 2");
  if (intervals.kind == Interval::runs && intervals.count > runs_max) {
    section.refuse("count", "at most " + std::to_string(runs_max) + " runs");
  }
  if (within_a_run && intervals.burn_in >= steps) {
    section.refuse("burn_in", "less than estimate.steps = " + std::to_string(steps));
  }
  if (within_a_run && steps - intervals.burn_in < intervals.count) {
    section.refuse("count", "at most the " + std::to_string(steps - intervals.burn_in) +
                                " steps that intervals.burn_in leaves of estimate.steps");
  }
  if (intervals.kind == Interval::checkpoints) check_checkpoints(section, config);
  check_averaged(section, config);
  if (intervals.kind == Interval::batch_means) {
    // The batches are those of this average, so that both begin at the same step.
    config.descent.averaging = {descent::Averaging::Kind::tail, intervals.burn_in, 0.5};
  }
}

}  // namespace

void read_intervals(const Section& root, Config& config, Purpose purpose) {
  read_estimate(root, purpose, config);
  const Section section = root.section("intervals");
  Intervals& intervals = config.intervals;
  intervals.kind = section.choice<Interval>("kind", Interval::none,
                                            {{"none", Interval::none},
                                             {"batch-means", Interval::batch_means},
                                             {"sandwich", Interval::sandwich},
                                             {"checkpoints", Interval::checkpoints},
                                             {"runs", Interval::runs}});
  intervals.level = section.number("level").value_or(intervals.level);
  if (!(intervals.level > 0 && intervals.level < 1)) section.refuse("level", "a number between 0 and 1");
  intervals.share = read_share(section, intervals.share);
  // By default there are as many batches as are needed to decide whether the path has settled.
  const std::uint64_t count = intervals.kind == Interval::batch_means ? inference::enough_batches : intervals.count;
  intervals.count = section.count("count").value_or(count);
  intervals.burn_in = section.count("burn_in").value_or(intervals.burn_in);
  intervals.averaged = section.count("averaged").value_or(intervals.averaged);
  const bool of_tables = intervals.kind == Interval::checkpoints || intervals.kind == Interval::runs;
  // Both need the same records again: checkpoints by going on over them, runs by beginning anew.
  if (purpose == Purpose::stream && of_tables) {
    section.refuse("kind", "\"batch-means\" or \"sandwich\" for a stream; checkpoints and runs are for tables");
  }
  if (purpose == Purpose::table) check_table_intervals(section, config);
  const Section release = root.section("release");
  // Absent, the setting has a default of its own for each kind of intervals.
  const std::optional<bool> status = release.flag("status");
  if (status.value_or(false) && purpose == Purpose::table) {
    release.refuse("status", "true only for a stream: an estimate says at its end whether its path has settled");
  }
  const bool averaged = intervals.kind == Interval::batch_means || intervals.kind == Interval::sandwich;
  if (averaged && config.descent.averaging.kind != descent::Averaging::Kind::tail) {
    root.section("descent").refuse("average", "\"tail\" where intervals.kind is \"batch-means\" or \"sandwich\"");
  }
  read_batching(section, purpose, status, config);
  read_sandwich(section, config);
}

}  // namespace nustream::config
