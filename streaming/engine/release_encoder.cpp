// Collects from the settings and the mechanism what a line of releases.jsonl says beside the iterate
// (docs/formats/releases.md): names and units, promise and cost, and the public numbers that intervals are computed
// from. Nothing here reads a record.
#include "engine/release_encoder.h"

#include <utility>

#include "config/ranges.h"

namespace nustream::engine {
namespace {

/// How many different records a run of several passes reads: b steps of m records lie between two participations of
/// one record. Nothing where there is one pass only.
std::optional<std::uint64_t> distinct_records(const config::Config& config, const config::Mechanism& mechanism) {
  if (mechanism.participation.times() == 1) return std::nullopt;
  return mechanism.participation.separation() * config.descent.minibatch;
}

/// The intervals that each release carries, with the public numbers that their formula needs; nothing where a release
/// has none.
std::optional<publish::IntervalKind> interval_kind(const config::Config& config, const config::Mechanism& mechanism) {
  using Kind = config::Intervals::Kind;
  const lane::Settings& descent = config.descent;
  if (config.moments && descent.first_stage) return std::nullopt;  // the Anderson-Rubin set replaces it
  if (config.moments && config.intervals.kind == Kind::sandwich) {
    return publish::MomentIntervals{config.intervals.level, true, config.moments->memory.has_value()};
  }
  switch (config.intervals.kind) {
    case Kind::batch_means:
      return publish::BatchMeansIntervals{config.intervals.level, descent.first_stage.has_value()};
    case Kind::sandwich:  // the mechanism's stages are the descent, the bread and the meat of the sandwich, in that
                          // order
      return publish::SandwichIntervals{
          config.intervals.level,
          {mechanism.main().correlation, mechanism.main().stddev, StepSize{descent.schedule.at(StepIndex{0})},
           descent.l2, descent.minibatch, descent.averaging.from, mechanism.stages[1].stddev,
           mechanism.stages[2].stddev, distinct_records(config, mechanism)}};
    case Kind::residuals:
      return publish::MomentIntervals{config.intervals.level, false,
                                      config.moments && config.moments->memory.has_value()};
    default:
      return std::nullopt;
  }
}

/// What a two-stage descent with second moments needs to judge its instruments; nothing for other models.
std::optional<publish::StrengthDesign> strength_design(const config::Config& config,
                                                       const config::Mechanism& mechanism) {
  const lane::Settings& descent = config.descent;
  if (!descent.first_stage || !descent.moments) return std::nullopt;
  const descent::TwoStageShape& shape = descent.first_stage->shape;
  // In a two-stage model the second moments are the mechanism's last stage.
  const config::CalibratedStage& noise = mechanism.stages.back();
  publish::StrengthDesign design{
      shape, {}, noise.correlation, noise.stddev, descent.minibatch, distinct_records(config, mechanism)};
  const auto& features = config.schema.features;
  // The endogenous regressors are the last features of the schema.
  for (auto each = features.end() - static_cast<std::ptrdiff_t>(shape.endogenous); each != features.end(); ++each) {
    design.regressors.push_back(each->name);
  }
  return design;
}

/// The count's stage is the mechanism's last one.
std::optional<publish::ClippedDesign> clipped_design(const config::Config& config,
                                                     const config::Mechanism& mechanism) {
  if (!config.descent.counts_clipped) return std::nullopt;
  const config::CalibratedStage& noise = mechanism.stages.back();
  return publish::ClippedDesign{noise.correlation, noise.stddev, config.descent.minibatch};
}

std::optional<publish::SolvedInstruments> solved_instruments(const config::Config& config) {
  if (!config.moments || !config.descent.first_stage) return std::nullopt;
  const descent::TwoStageShape& shape = config.descent.first_stage->shape;
  const auto& features = config.schema.features;
  publish::SolvedInstruments design{{}, shape.instruments, 1, config.intervals.level};
  const auto first = features.end() - static_cast<std::ptrdiff_t>(shape.endogenous);
  for (auto each = first; each != features.end(); ++each) design.regressors.push_back(each->name);
  design.unit = config.schema.target->scale / first->scale;
  return design;
}

}  // namespace

publish::Promise promise_of(const config::Config& config, bool is_private) {
  publish::Promise promise{is_private, config.privacy.protects == config::Protects::target,
                           std::string(privacy::name(config.privacy.adjacency))};
  promise.trusts_framing = config.input.framing_is_trusted;
  if (config.users) promise.user = publish::PromisedUser{config.users->column, *config.descent.users};
  return promise;
}

publish::ReleaseHeader release_header(const config::Config& config, const ReleaseIdentity& of) {
  return {config.stream,
          of.lane,
          of.epoch,
          config.privacy.delta,
          of.settings_digest,
          promise_of(config, of.is_private),
          config::model_digest(config),
          config.privacy.more_deltas,
          config.publishing.tells_ages,
          config::measured_settings(config.ranges)};
}

std::optional<publish::SolvedModel> solved_model(const config::Config& config) {
  if (!config.moments) return std::nullopt;
  // Without instruments the target is the only response. With them each endogenous regressor is one, too, and a row's
  // inputs are the controls and the instruments.
  const publish::OriginalUnits units(config.schema, config.descent);
  if (!config.descent.first_stage) return publish::SolvedModel{units, config.schema.dimension(), 1};
  const descent::TwoStageShape& shape = config.descent.first_stage->shape;
  return publish::SolvedModel{units, shape.instruments, shape.endogenous + 1, shape.controls};
}

publish::ReleaseEncoder release_encoder(const config::Config& config, const config::Mechanism& mechanism,
                                        const ReleaseIdentity& of, publish::LedgerTotal ledger_total) {
  return {release_header(config, of),
          publish::OriginalUnits(config.schema, config.descent),
          mechanism.spend,
          interval_kind(config, mechanism),
          strength_design(config, mechanism),
          std::move(ledger_total),
          solved_instruments(config),
          clipped_design(config, mechanism)};
}

}  // namespace nustream::engine
