// Joins the lanes' last releases to one line. Which lanes go in is decided first, then the line is written from the
// releases alone, so that one set of parts gives one text (docs/formats/model.md).
#include "publish/combined_model.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "error.h"
#include "publish/json_writer.h"
#include "publish/promise_json.h"
#include "publish/release_json.h"

namespace nustream::publish {
namespace {

using Parts = std::vector<ShownRelease>;

/// The release that a lane contributes; none where it is of another format. A service may be older than the one
/// beside it that runs the lane, and the model then waits for that lane instead of ending this service.
std::optional<ShownRelease> part_of(const std::string& line) try {
  return read_release(line);
} catch (const Failure&) {
  return std::nullopt;
}

/// Σ n_l v_l / Σ n_l by name, where n_l are the steps of lane l. Empty where a lane has no such values.
NamedValues weighted(const Parts& parts, NamedValues ShownRelease::*which) {
  // Names and their order are those of the first part. All parts have one settings digest but for the rule of an
  // epoch's beginning, so that they have the same names in the same order.
  NamedValues sum = parts.front().*which;
  double weight = 0;
  for (auto& [name, value] : sum) value = 0;
  for (const ShownRelease& part : parts) {
    const NamedValues& values = part.*which;
    // An average that has not begun in one lane: without it the others' would be about less than all records.
    if (values.size() != sum.size()) return {};
    const auto steps = static_cast<double>(part.step);
    for (std::size_t i = 0; i < values.size(); ++i) sum[i].second += steps * values[i].second;
    weight += steps;
  }
  for (auto& [name, value] : sum) value /= weight;
  return sum;
}

/// Writes the spend of all lanes. Each record is in one lane, so that the spend is that of the lane that spent most.
void append_spend(const Parts& parts, JsonWriter& json) {
  // Three maxima, perhaps of three lanes. A lane that spent most so far need not have the greatest limit, nor the
  // greatest total of all epochs.
  const ShownRelease* dearest = &parts.front();
  const ShownRelease* longest = &parts.front();
  const ShownRelease* in_all = &parts.front();
  for (const ShownRelease& part : parts) {
    if (part.rho > dearest->rho) dearest = &part;
    if (part.rho_limit > longest->rho_limit) longest = &part;
    if (part.rho_ledger > in_all->rho_ledger) in_all = &part;
  }
  json.field("rho", dearest->rho);
  json.field("rho_limit", longest->rho_limit);
  json.field("rho_ledger", in_all->rho_ledger);
  json.field("epsilon", dearest->epsilon);
  json.field("epsilon_ledger", in_all->epsilon_ledger);
  if (!dearest->epsilons.empty()) append_epsilons("epsilons", dearest->epsilons, json);
  if (!in_all->epsilons_ledger.empty()) append_epsilons("epsilons_ledger", in_all->epsilons_ledger, json);
  json.field("delta", dearest->delta);
  json.field("conversion", dearest->conversion);
}

/// Writes which releases went in, so that anybody can compute the model again from them.
void append_parts(const Parts& parts, JsonWriter& json) {
  const auto array = json.array("parts");
  for (const ShownRelease& part : parts) {
    const auto object = json.object();
    json.field("lane", part.lane.value());
    json.field("epoch", part.epoch.value());
    json.field("step", part.step);
  }
}

/// Writes the lanes without a release. The member is left out where there are none.
void append_empty(const std::vector<LaneId>& empty, JsonWriter& json) {
  if (empty.empty()) return;
  const auto array = json.array("empty");
  for (const LaneId lane : empty) json.element(lane.value());
}

/// The line. The members stand in the order of docs/formats/model.md, which must stay.
std::string to_json(const Parts& parts, const std::vector<LaneId>& empty, const std::optional<AddedSums>& added) {
  return object_text([&](JsonWriter& json) {
    json.field("format", 1);
    json.field("stream", parts.front().stream);
    append_parts(parts, json);
    append_empty(empty, json);
    // Running sums are added and solved. The average of the lanes' solutions would be a poorer estimate, because
    // lanes differ in how well they determine each direction.
    json.fields_or_null("estimate", added ? added->estimate : weighted(parts, &ShownRelease::estimate));
    json.fields_or_null("average", weighted(parts, &ShownRelease::average));
    if (added) append_added(*added, json);
    append_spend(parts, json);
    // The digests of the parts may differ in where their epochs began; one of them stands for all.
    json.field("digest", parts.front().digest);
    if (!parts.front().model.empty()) json.field("model", parts.front().model);
    append_promise(parts.front().promise, json);
  });
}

}  // namespace

CombinedModel combined_model(const std::map<LaneId, std::string>& releases, std::uint32_t lanes,
                             std::span<const std::string> digests, const std::optional<SolvedModel>& solved) {
  CombinedModel model;
  Parts parts;
  std::vector<std::string> lines;
  std::vector<LaneId> empty;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const auto found = releases.find(LaneId{lane});
    std::optional<ShownRelease> part;
    if (found != releases.end()) part = part_of(found->second);
    // A partition may be empty for ever. The model does not wait for it, and names it.
    if (found == releases.end() || (part && part->step == 0)) {
      empty.emplace_back(lane);
      // Otherwise a lane under other settings, or with another promise, holds the model up: an average over both
      // would mean neither.
    } else if (!part || std::ranges::find(digests, part->digest) == digests.end() ||
               (!parts.empty() && part->promise != parts.front().promise)) {
      model.waits_for.emplace_back(lane);
    } else {
      parts.push_back(std::move(*part));
      lines.push_back(found->second);
    }
  }
  // Without parts the weights sum to 0, and there is nothing to divide.
  if (!model.waits_for.empty() || parts.empty()) return model;
  model.json = to_json(parts, empty, solved ? added_sums(lines, *solved) : std::nullopt);
  return model;
}

std::optional<ShownModel> read_model(std::string_view line) {
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  simdjson::dom::array parts;
  ShownModel shown;
  if (parser.parse(line.data(), line.size()).get(json) != simdjson::SUCCESS) return std::nullopt;
  require_known_format(json);
  // Only combined models have parts: that tells their lines from releases.
  if (json["parts"].get(parts) != simdjson::SUCCESS || json["rho"].get(shown.rho) != simdjson::SUCCESS ||
      json["private"].get(shown.promise.is_private) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  shown.lanes = parts.size();
  read_neighbours(json, shown.promise);
  shown.model = text_or_nothing(json, "model");
  return shown;
}

}  // namespace nustream::publish
