#include "journal/last_release.h"

#include <simdjson.h>

#include <cstdint>
#include <limits>

#include "error.h"

namespace nustream::journal {
namespace {

std::uint64_t number(const simdjson::dom::element& object, std::string_view field) {
  return object[field].get_uint64();
}

std::uint32_t small_number(const simdjson::dom::element& object, std::string_view field) {
  const std::uint64_t value = number(object, field);
  if (value > std::numeric_limits<std::uint32_t>::max())
    throw simdjson::simdjson_error(simdjson::NUMBER_OUT_OF_RANGE);
  return static_cast<std::uint32_t>(value);
}

std::optional<Rho> spend(const simdjson::dom::element& release) {
  double rho = 0;
  if (release["rho"].get_double().get(rho) != simdjson::SUCCESS || !(rho >= 0)) return std::nullopt;
  return Rho{rho};
}

std::string settings_digest(const simdjson::dom::element& release) {
  std::string_view digest;
  return release["digest"].get_string().get(digest) == simdjson::SUCCESS ? std::string(digest) : std::string();
}

}  // namespace

LastRelease parse_last_release(std::string_view line) try {
  simdjson::dom::parser parser;
  const simdjson::dom::element release = parser.parse(simdjson::padded_string(line));
  return {LaneId{small_number(release, "lane")},
          EpochId{small_number(release, "epoch")},
          StepCount{number(release, "step")},
          Position{number(release, "position")},
          release["private"].get_bool(),
          spend(release),
          settings_digest(release)};
} catch (const simdjson::simdjson_error&) {
  throw Failure(Exit::data, "the last line of releases.jsonl is no release; check state.directory");
}

}  // namespace nustream::journal
