#include "attached_watch.h"

#include <charconv>
#include <stdexcept>

#include <fmt/format.h>

namespace nustream::tests {
namespace {

/// The number behind `name`; empty where the text lacks the name.
std::optional<std::uint64_t> number_behind(std::string_view name, std::string_view text) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + name.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

/// The value of a series of whole numbers that has the label of the lane.
std::uint64_t series_of(std::string_view name, std::uint32_t lane, std::string_view metrics) {
  const std::string label = fmt::format("lane=\"{}\"", lane);
  for (std::size_t at = metrics.find(name); at != std::string_view::npos; at = metrics.find(name, at + 1)) {
    const std::string_view line = metrics.substr(at, metrics.find('\n', at) - at);
    if (line.find(label) == std::string_view::npos) continue;
    if (const auto number = number_behind("} ", line)) return *number;
  }
  throw std::runtime_error(fmt::format("no {} of lane {} in the metrics", name, lane));
}

}  // namespace

std::string_view estimate_in(std::string_view json) {
  constexpr std::string_view name = "\"estimate\":";
  const std::size_t at = json.find(name);
  if (at == std::string_view::npos) return {};
  if (json.substr(at + name.size()).starts_with("null")) return no_estimate;
  return json.substr(at, json.find('}', at) + 1 - at);
}

std::vector<ShownLane> shown_lanes(const serve::PublicSurface& shown) {
  constexpr std::string_view begin = "{\"lane\":";
  const std::string_view page = shown.state();
  std::vector<ShownLane> lanes;
  for (std::size_t at = page.find(begin); at != std::string_view::npos;) {
    const std::size_t next = page.find(begin, at + 1);
    const std::string_view part = page.substr(at, next - at);
    ShownLane& lane = lanes.emplace_back();
    lane.lane = static_cast<std::uint32_t>(number_behind(begin, part).value());
    lane.steps_committed = number_behind("\"steps_committed\":", part).value();
    lane.steps_total = series_of("nustream_steps_total{", lane.lane, shown.metrics());
    lane.released = number_behind("\"step\":", part);
    lane.estimate = estimate_in(part);
    at = next;
  }
  return lanes;
}

}  // namespace nustream::tests
