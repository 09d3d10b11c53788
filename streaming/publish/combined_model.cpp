#include "publish/combined_model.h"

#include <simdjson.h>

#include <utility>
#include <vector>

#include "publish/json_text.h"

namespace nustream::publish {
namespace {

using Values = std::vector<std::pair<std::string, double>>;

/// The fields of a release that a model is made of.
struct Part {
  LaneId lane{0};
  std::uint64_t epoch = 0;
  std::uint64_t steps = 0;
  Values estimate;
  Values average;  // empty before it begins
  double rho = 0;
  double rho_limit = 0;
  double epsilon = 0;
  double delta = 0;
  std::string stream, conversion, digest;
  bool is_private = false;
};

Values values_of(simdjson::dom::element release, std::string_view key) {
  Values values;
  simdjson::dom::object object;
  if (release[key].get(object) != simdjson::SUCCESS) return values;
  for (const auto field : object) {
    double value = 0;
    // null: an iterate that diverged
    if (field.value.get(value) != simdjson::SUCCESS) value = std::numeric_limits<double>::quiet_NaN();
    values.emplace_back(field.key, value);
  }
  return values;
}

std::string text_of(simdjson::dom::element release, std::string_view key) {
  return std::string(release[key].get_string().value());
}

std::optional<Part> read_part(const std::string& line, LaneId lane) try {
  simdjson::dom::parser parser;
  const simdjson::dom::element release = parser.parse(simdjson::padded_string(line));
  Part part;
  part.lane = lane;
  part.epoch = release["epoch"].get_uint64();
  part.steps = release["step"].get_uint64();
  part.estimate = values_of(release, "estimate");
  part.average = values_of(release, "average");
  part.rho = release["rho"].get_double();
  part.rho_limit = release["rho_limit"].get_double();
  part.epsilon = release["epsilon"].get_double();
  part.delta = release["delta"].get_double();
  part.stream = text_of(release, "stream");
  part.conversion = text_of(release, "conversion");
  part.digest = text_of(release, "digest");
  part.is_private = release["private"].get_bool();
  return part;
} catch (const simdjson::simdjson_error&) {
  return std::nullopt;
}

/// Σ n_l v_l / Σ n_l, in the order of the lanes; nothing where a lane has no such values.
Values weighted(const std::vector<Part>& parts, Values Part::*which) {
  Values sum = parts.front().*which;
  double weight = 0;
  for (auto& [name, value] : sum) value = 0;
  for (const Part& part : parts) {
    const Values& values = part.*which;
    if (values.size() != sum.size()) return {};
    const auto steps = static_cast<double>(part.steps);
    for (std::size_t i = 0; i < values.size(); ++i) sum[i].second += steps * values[i].second;
    weight += steps;
  }
  for (auto& [name, value] : sum) value /= weight;
  return sum;
}

void append_values(std::string_view key, const Values& values, std::string& out) {
  (out += ",\"") += key;
  out += "\":";
  if (values.empty()) {
    out += "null";
    return;
  }
  char separator = '{';
  for (const auto& [name, value] : values) {
    out += separator;
    append_string(name, out);
    out += ':';
    append_number(value, out);
    separator = ',';
  }
  out += '}';
}

void append_number_field(std::string_view key, double value, std::string& out) {
  (out += ",\"") += key;
  out += "\":";
  append_number(value, out);
}

void append_text_field(std::string_view key, std::string_view value, std::string& out) {
  (out += ",\"") += key;
  out += "\":";
  append_string(value, out);
}

std::string to_json(const std::vector<Part>& parts) {
  std::string out = "{\"format\":1";
  append_text_field("stream", parts.front().stream, out);
  out += ",\"parts\":[";
  for (const Part& part : parts) {
    if (&part != &parts.front()) out += ',';
    out += "{\"lane\":";
    append_number(std::uint64_t{part.lane.value()}, out);
    out += ",\"epoch\":";
    append_number(part.epoch, out);
    out += ",\"step\":";
    append_number(part.steps, out);
    out += '}';
  }
  out += ']';
  append_values("estimate", weighted(parts, &Part::estimate), out);
  append_values("average", weighted(parts, &Part::average), out);
  // A record is in one lane: all lanes together cost the most that one of them does.
  const Part* dearest = &parts.front();
  const Part* longest = &parts.front();
  for (const Part& part : parts) {
    if (part.rho > dearest->rho) dearest = &part;
    if (part.rho_limit > longest->rho_limit) longest = &part;
  }
  append_number_field("rho", dearest->rho, out);
  append_number_field("rho_limit", longest->rho_limit, out);
  append_number_field("epsilon", dearest->epsilon, out);
  append_number_field("delta", dearest->delta, out);
  append_text_field("conversion", dearest->conversion, out);
  append_text_field("digest", parts.front().digest, out);
  out += parts.front().is_private ? ",\"private\":true}" : ",\"private\":false}";
  return out;
}

}  // namespace

std::optional<std::string> combined_model(const std::map<LaneId, std::string>& releases, std::uint32_t lanes,
                                          std::string_view digest) {
  std::vector<Part> parts;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const auto found = releases.find(LaneId{lane});
    if (found == releases.end()) return std::nullopt;
    std::optional<Part> part = read_part(found->second, LaneId{lane});
    if (!part || part->steps == 0 || part->digest != digest) return std::nullopt;
    if (!parts.empty() && part->is_private != parts.front().is_private) return std::nullopt;
    parts.push_back(std::move(*part));
  }
  if (parts.empty()) return std::nullopt;
  return to_json(parts);
}

}  // namespace nustream::publish
