// Offsets for kafka.start and kafka.stop. They are resolved once and kept in the lane's state, so that a lane that is
// opened again later does not end elsewhere because more records have come.
#include "attach/lane_bounds.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "log/log.h"

#include "error.h"

namespace nustream::attach {
namespace {

/// The setting as a state keeps it (`stop asked` in docs/formats/kafka.md).
std::string text_of(const config::Place& place) {
  if (std::holds_alternative<config::Earliest>(place)) return "earliest";
  if (std::holds_alternative<config::Latest>(place)) return "end";
  if (const auto* offset = std::get_if<config::AtOffset>(&place)) return fmt::format("offset {}", offset->offset);
  return fmt::format("time {}", std::get<config::AtTime>(place).milliseconds);
}

}  // namespace

Position position_of(kafka::Offset offset) {
  return Position{static_cast<std::uint64_t>(offset.value())};
}

Position LaneBounds::start() {
  const kafka::Watermarks log = checks_.input_log();
  const Position start = resolve(kafka_.start, log);
  // "earliest", "latest" and times are always within the log.
  if (std::holds_alternative<config::AtOffset>(kafka_.start)) require_there(start);
  return std::max(start, position_of(log.low));
}

/// Refuses to start at an offset that does not exist yet. Nothing could be read from there, and the first state would
/// keep that offset for ever.
void LaneBounds::require_there(Position start) {
  const kafka::Offset end = checks_.input_end();
  if (start <= position_of(end)) return;
  throw Failure(
      Exit::configuration,
      fmt::format("lane {}: kafka.start = {} is beyond the end of the partition, {}; give an offset that is "
                  "there, or \"latest\"",
                  place_.name(), start.value(), end.value()));
}

Stop LaneBounds::stop() {
  if (!kafka_.stop) return {};
  return {resolve(*kafka_.stop, checks_.input_log()), text_of(*kafka_.stop)};
}

Stop LaneBounds::stop_of(const journal::StateRecord& record) {
  // An offset needs no keeping: it is resolved to itself, and the operator may set another one.
  const bool is_kept = kafka_.stop && !std::holds_alternative<config::AtOffset>(*kafka_.stop) && record.stop;
  if (!is_kept) return stop();
  const std::string asked = text_of(*kafka_.stop);
  // Another setting than the one that was resolved. A state of an earlier version does not say which that was, and
  // counts as the same.
  if (asked != record.stop_asked && !record.stop_asked.empty()) return stop();
  // A "latest" that was reached is asked for anew: the end that the partition has now is meant.
  if (std::holds_alternative<config::Latest>(*kafka_.stop) && has_reached(record)) return stop();
  log::info(
      "lane_end_kept",
      fmt::format("lane {} ends at offset {}: kafka.stop ({}) was resolved to that offset when it was set; to end "
                  "elsewhere, set kafka.stop to an offset",
                  place_.lane.value(), record.stop->value(), asked),
      {{"lane", std::uint64_t{place_.lane.value()}}});
  return {record.stop, asked};
}

/// Whether the lane has taken every step before its stop. Its position is where its last step ended, which may lie
/// before the stop: control records, or fewer records than fill a step, may lie in between.
bool LaneBounds::has_reached(const journal::StateRecord& record) {
  const auto offset = [](Position position) { return kafka::Offset{static_cast<std::int64_t>(position.value())}; };
  return record.position >= *record.stop ||
         !checks_.input_has_records(offset(record.position), offset(*record.stop), records_of_a_step_);
}

Position LaneBounds::resolve(const config::Place& place, const kafka::Watermarks& log) {
  if (std::holds_alternative<config::Earliest>(place)) return position_of(log.low);
  if (std::holds_alternative<config::Latest>(place)) return position_of(log.high);
  if (const auto* offset = std::get_if<config::AtOffset>(&place)) return Position{offset->offset};
  return position_of(checks_.input_offset_at(std::get<config::AtTime>(place).milliseconds));
}

}  // namespace nustream::attach
