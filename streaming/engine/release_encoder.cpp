#include "engine/release_encoder.h"

#include <utility>

namespace nustream::engine {
namespace {

/// Of several passes: b steps of m records lie between two participations of one.
std::optional<std::uint64_t> distinct_records(const config::Config& config, const config::Mechanism& mechanism) {
  if (mechanism.participation.times() == 1) return std::nullopt;
  return mechanism.participation.separation() * config.descent.minibatch;
}

std::optional<publish::IntervalKind> interval_kind(const config::Config& config, const config::Mechanism& mechanism) {
  using Kind = config::Intervals::Kind;
  const lane::Settings& descent = config.descent;
  switch (config.intervals.kind) {
    case Kind::batch_means:
      return publish::BatchMeansIntervals{config.intervals.level};
    case Kind::sandwich:
      return publish::SandwichIntervals{
          config.intervals.level,
          {mechanism.main().correlation, mechanism.main().stddev, StepSize{descent.schedule.at(StepIndex{0})},
           descent.l2, descent.minibatch, descent.averaging.from, distinct_records(config, mechanism)}};
    default:
      return std::nullopt;
  }
}

}  // namespace

publish::ReleaseEncoder release_encoder(const config::Config& config, const config::Mechanism& mechanism,
                                        publish::ReleaseHeader header) {
  return {std::move(header), publish::OriginalUnits(config.schema, config.descent), mechanism.spend,
          interval_kind(config, mechanism)};
}

}  // namespace nustream::engine
