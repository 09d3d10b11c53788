// Writes a release as one line and reads it back. The first half is ReleaseEncoder: members that never change are
// encoded once, and the order of all members is fixed, since lines are hashed and signed byte for byte. The second
// half reads the members that this program shows, and is lenient: old lines lack some of them.
#include "publish/release_json.h"

#include <simdjson.h>

#include <limits>
#include <string>

#include "error.h"
#include "publish/instruments.h"
#include "publish/intervals.h"
#include "publish/json_text.h"
#include "publish/json_writer.h"
#include "publish/promise_json.h"
#include "publish/released_sums.h"

namespace nustream::publish {

void require_known_format(const simdjson::dom::element& line) {
  simdjson::dom::element format;
  if (line["format"].get(format) != simdjson::SUCCESS) return;
  double number = 0;
  const bool is_number = format.get(number) == simdjson::SUCCESS;
  // Read as a double, so that 1.0 is format 1 and any other number can be named in the message.
  if (is_number && number == 1) return;
  std::string shown = "an unknown format";
  if (is_number) {
    shown = "format ";
    append_number(number, shown);
  }
  throw Failure(Exit::data, "a release of " + shown + "; this version reads format 1: use a newer nustream");
}

std::vector<Delta> ReleaseHeader::deltas() const {
  std::vector<Delta> all{delta};
  all.insert(all.end(), more_deltas.begin(), more_deltas.end());
  return all;
}

ReleaseEncoder::ReleaseEncoder(ReleaseHeader header, OriginalUnits units, privacy::Spend spend,
                               std::optional<IntervalKind> intervals, std::optional<StrengthDesign> strength,
                               LedgerTotal ledger_total, std::optional<SolvedInstruments> instruments,
                               std::optional<ClippedDesign> clipped)
    : header_(std::move(header)),
      units_(std::move(units)),
      spend_(std::move(spend)),
      intervals_(std::move(intervals)),
      strength_(std::move(strength)),
      instruments_(std::move(instruments)),
      clipped_(std::move(clipped)),
      ledger_total_(std::move(ledger_total)),
      deltas_(header_.deltas()) {
  if (header_.tells_ages) ages_.emplace(spend_);
  // prefix_ and suffix_ are members without braces. Each release's line takes them in around its own members.
  JsonWriter first(prefix_);
  first.field("format", 1);
  first.field("stream", header_.stream);
  first.field("lane", header_.lane.value());
  first.field("epoch", header_.epoch.value());
  JsonWriter last(suffix_);
  last.field("delta", header_.delta.value());
  last.field("conversion", privacy::name(privacy::Conversion::gaussian));
  last.field("digest", header_.settings_digest);
  last.field("model", header_.model_digest);
  // The values are JSON already, as they were made when they were measured.
  if (!header_.measured.empty()) {
    const auto measured = last.object("measured");
    for (const auto& [key, value] : header_.measured) last.raw(key, value);
  }
  append_promise(header_.promise, last);
}

/// Writes an iterate by name in original units.
void ReleaseEncoder::append_values(MemberName key, std::span<const double> theta, JsonWriter& json) {
  // An empty average has not begun, and an empty estimate is one that noise hides. Both are null, and keep their
  // place in the order of the line.
  if (theta.empty()) return json.field(key, nullptr);
  units_.convert(theta, values_);
  const auto object = json.object(key);
  for (std::size_t j = 0; j < values_.size(); ++j) json.field(units_.names()[j], values_[j]);
}

void ReleaseEncoder::append_interval(const moments::Release& release, JsonWriter& json) const {
  append_shown(intervals_of(std::get<MomentIntervals>(*intervals_), release, units_), json);
}

/// Writes the intervals, or null where they are withheld.
void ReleaseEncoder::append_shown(const std::optional<ShownIntervals>& shown, JsonWriter& json) const {
  // Null says that an interval was asked for and is withheld; without the setting the member is absent.
  if (!shown) return json.field("interval", nullptr);
  ReportedIntervals reported{std::string(name(*intervals_)),
                             std::string(coverage_statement(*intervals_)),
                             level(*intervals_),
                             shown->steps,
                             shown->through,
                             shown->too_few,
                             {}};
  for (const inference::Interval& interval : shown->of) {
    reported.bounds.emplace_back(interval.lower(), interval.upper());
  }
  append_intervals("interval", units_.names(), reported, json);
}

void ReleaseEncoder::append_strength(const lane::Release& release, JsonWriter& json) const {
  const auto strength = strength_of(*strength_, release);
  // Null says that the strength was paid for, but that noise hides it or records are too few.
  if (!strength) return json.field("first_stage", nullptr);
  const auto object = json.object("first_stage");
  json.field("cragg_donald", strength->cragg_donald);
  json.field("steps", release.moment_steps);
  const auto f = json.object("f");
  for (std::size_t j = 0; j < strength->f.size(); ++j) json.field(strength_->regressors[j], strength->f[j]);
}

/// Computes the ε of `rho`, unless they are known from the release before.
void ReleaseEncoder::tell(Rho rho, Told& told) const {
  // Once ρ has settled to the last bit, its ε are those of the release before.
  if (rho.value() == told.rho) return;
  told = {rho.value(), epsilons_of(rho, deltas_)};
}

/// Writes the beginning of a line: which lane it is of, and how far that has come.
void ReleaseEncoder::append_place(StepCount steps, Position position, std::string_view tag, JsonWriter& json) const {
  json.raw_members(prefix_);
  json.field("step", steps.value());
  json.field("position", position.value());
  json.field("tag", tag);
}

void ReleaseEncoder::append(const lane::Release& release, std::string_view tag, std::string& out) {
  JsonWriter json(out);
  {
    const auto line = json.object();
    // The order of the members is part of the format (docs/formats/releases.md).
    append_place(release.steps, release.position, tag, json);
    append_values("estimate", release.theta, json);
    append_values("average", release.average, json);
    // Readers need the weight to go on with the average, or to combine it with another.
    if (!release.average.empty()) json.field("average_weight", release.average_weight);
    const auto& status = status_.of(release);
    if (intervals_) append_shown(intervals_of(*intervals_, release, status, units_), json);
    if (status) append_status(*status, json);
    if (clipped_) {
      if (const auto clipped = clipped_->share_of(release)) append_clipped(*clipped, json);
    }
    if (strength_) append_strength(release, json);
    append_spend(release.steps, release.position, json);
  }
  json.end_line();
}

void ReleaseEncoder::append_moments(const moments::Release& release, JsonWriter& json) const {
  const auto object = json.object("moments");
  json.field("records", release.records);
  json.field("stage", release.stage);
  json.field("floored", release.floored);
  if (release.ridge) json.field("ridge", *release.ridge);
  if (release.grown) append_growth(*release.grown, units_.names(), json);
  if (instruments_) append_instruments(release, *instruments_, json);
  // The sums themselves are shown only where release.moments asks for them.
  if (release.sums) append_sums({*release.sums, release.floor, release.noise}, json);
}

void ReleaseEncoder::append(const moments::Release& release, std::string_view tag, std::string& out) {
  JsonWriter json(out);
  {
    const auto line = json.object();
    append_place(release.steps, release.position, tag, json);
    append_values("estimate", instruments_ ? parameters_of(release, *instruments_) : release.theta, json);
    // Running sums have no average of iterates.
    json.field("average", nullptr);
    if (intervals_) append_interval(release, json);
    if (release.status) append_status(*release.status, json);
    append_moments(release, json);
    append_spend(release.steps, release.position, json);
  }
  json.end_line();
}

/// Writes the end of a line: what it cost, and whom it protects.
void ReleaseEncoder::append_spend(StepCount steps, Position position, JsonWriter& json) {
  const Rho spent = spend_.after(steps);
  json.field("rho", spent.value());
  json.field("rho_limit", spend_.limit().value());
  if (ages_) ages_->append(steps, json);
  const Rho total = ledger_total_ ? ledger_total_(spent, steps, position) : spent;
  tell(spent, spent_);
  if (total == spent) {
    total_ = spent_;
  } else {
    tell(total, total_);
  }
  json.field("rho_ledger", total.value());
  // The first δ by the first conversion, the exact Gaussian curve, are what a line quotes without a
  // list. The suffix names both.
  json.field("epsilon", spent_.epsilons.front().by.front());
  json.field("epsilon_ledger", total_.epsilons.front().by.front());
  append_epsilons("epsilons", spent_.epsilons, json);
  append_epsilons("epsilons_ledger", total_.epsilons, json);
  json.raw_members(suffix_);
}

namespace {

/// Null stands for a number that is not finite, and is read back as NaN.
double number_or_nan(simdjson::dom::element element) {
  double value = 0;
  return element.get(value) == simdjson::SUCCESS ? value : std::nan("");
}

template <class Id>
bool read_id(simdjson::simdjson_result<simdjson::dom::element> element, Id& id) {
  std::uint64_t value = 0;
  // A number that does not fit would otherwise become another lane or epoch.
  if (element.get(value) != simdjson::SUCCESS || value > std::numeric_limits<typename Id::rep>::max()) return false;
  id = Id{static_cast<typename Id::rep>(value)};
  return true;
}

/// The numbers of an object by name, in its order; empty where the member is null or missing.
std::vector<std::pair<std::string, double>> values_of(simdjson::dom::element release, std::string_view key) {
  std::vector<std::pair<std::string, double>> values;
  simdjson::dom::object object;
  if (release[key].get(object) != simdjson::SUCCESS) return values;
  for (const auto field : object) values.emplace_back(std::string(field.key), number_or_nan(field.value));
  return values;
}

/// Reads the ε at every δ.
std::vector<Epsilons> epsilons_in(simdjson::dom::element release, std::string_view key) {
  std::vector<Epsilons> all;
  simdjson::dom::array array;
  if (release[key].get(array) != simdjson::SUCCESS) return all;
  for (const simdjson::dom::element at : array) {
    Epsilons& one = all.emplace_back();
    bool known = at["delta"].get(one.delta) == simdjson::SUCCESS;
    for (std::size_t i = 0; i < one.by.size(); ++i) {
      known = known && at[name(privacy::conversions[i])].get(one.by[i]) == simdjson::SUCCESS;
    }
    // A list that lacks a conversion is not shown at all, since zeros in its place would look like a small ε.
    if (!known) return {};
  }
  return all;
}

/// Reads what all epochs together came to. Older lines do not say it; the epoch's own spend stands in for it then.
void read_ledger(simdjson::dom::element release, ShownRelease& shown) {
  if (release["rho_ledger"].get(shown.rho_ledger) != simdjson::SUCCESS ||
      release["epsilon_ledger"].get(shown.epsilon_ledger) != simdjson::SUCCESS) {
    shown.rho_ledger = shown.rho;
    shown.epsilon_ledger = shown.epsilon;
  }
  shown.epsilons = epsilons_in(release, "epsilons");
  shown.epsilons_ledger = epsilons_in(release, "epsilons_ledger");
}

/// Reads the interval, all of it or nothing: a bound without its level or its age would be shown as if it were whole.
void read_interval(simdjson::dom::element release, ShownRelease& shown) {
  simdjson::dom::element interval;
  std::string_view kind;
  std::string_view covers;
  if (release["interval"].get(interval) != simdjson::SUCCESS || interval["kind"].get(kind) != simdjson::SUCCESS ||
      interval["covers"].get(covers) != simdjson::SUCCESS ||
      interval["level"].get(shown.interval.level) != simdjson::SUCCESS ||
      interval["through"].get(shown.interval.through) != simdjson::SUCCESS ||
      interval["effective_steps"].get(shown.interval.effective_steps) != simdjson::SUCCESS ||
      interval["too_few_steps"].get(shown.interval.too_few) != simdjson::SUCCESS) {
    return;
  }
  shown.interval.kind = kind;
  shown.interval.covers = covers;
  const auto lower = values_of(interval, "lower");
  const auto upper = values_of(interval, "upper");
  // Both objects have the names of the estimate in its order, so that places are enough here.
  for (std::size_t j = 0; j < std::min(lower.size(), upper.size()); ++j) {
    shown.interval.bounds.emplace_back(lower[j].second, upper[j].second);
  }
}

/// Reads the share of clipped gradients, or nothing where any part of it is missing.
void read_clipped(simdjson::dom::element release, ShownRelease& shown) {
  simdjson::dom::element of;
  ClippedShare clipped{};
  if (release["clipped"].get(of) != simdjson::SUCCESS || of["share"].get(clipped.share) != simdjson::SUCCESS ||
      of["sd"].get(clipped.stddev) != simdjson::SUCCESS || of["since"].get(clipped.since) != simdjson::SUCCESS ||
      of["large"].get(clipped.is_large) != simdjson::SUCCESS) {
    return;
  }
  shown.status.clipped = clipped;
}

/// Reads the strength of a descent's first stage.
void read_strength(simdjson::dom::element release, ShownRelease& shown) {
  simdjson::dom::element strength;
  if (release["first_stage"].get(strength) != simdjson::SUCCESS) return;
  ShownStrength& found = shown.first_stage;
  // A member that is absent says that nobody paid for it; one that is null says that noise hides the answer.
  found.is_hidden = strength.is_null();
  if (found.is_hidden || strength["cragg_donald"].get(found.cragg_donald) != simdjson::SUCCESS) return;
  found.f = values_of(strength, "f");
}

/// Reads what running sums tell of their instruments.
void read_instruments(simdjson::dom::element release, ShownRelease& shown) {
  simdjson::dom::element of;
  if (release["moments"]["instruments"].get(of) != simdjson::SUCCESS) return;
  ShownInstruments& instruments = shown.sums.instruments.emplace();
  instruments.effective_f = values_of(of, "effective_f");
  instruments.is_bounded = text_or_nothing(of, "residual_variance") == "bounded";
  simdjson::dom::element set;
  // The set is null where noise hides it, or where there are several regressors.
  if (of["anderson_rubin"].get(set) != simdjson::SUCCESS || !set.is_object()) return;
  if (set["level"].get(instruments.level) != simdjson::SUCCESS) return;
  instruments.set_kind = text_or_nothing(set, "kind");
  // Sets of kinds "empty" and "everything" have no bounds.
  if (set["lower"].get(instruments.lower) != simdjson::SUCCESS) instruments.lower = 0;
  if (set["upper"].get(instruments.upper) != simdjson::SUCCESS) instruments.upper = 0;
}

template <class Value>
bool read_member(simdjson::dom::element release, const char* name, Value& value) {
  return release[name].get(value) == simdjson::SUCCESS;
}

bool read_text(simdjson::dom::element release, const char* name, std::string& text) {
  std::string_view read;
  if (!read_member(release, name, read)) return false;
  text = read;
  return true;
}

/// Reads which release it is, and of which lane; false where a member is missing.
bool read_place(simdjson::dom::element release, ShownRelease& shown) {
  return read_text(release, "stream", shown.stream) && read_id(release["lane"], shown.lane) &&
         read_id(release["epoch"], shown.epoch) && read_member(release, "step", shown.step) &&
         read_member(release, "position", shown.position) && read_text(release, "tag", shown.tag) &&
         read_text(release, "digest", shown.digest) && read_member(release, "private", shown.promise.is_private);
}

/// Reads what the release cost; false where a member is missing.
bool read_cost(simdjson::dom::element release, ShownRelease& shown) {
  return read_member(release, "rho", shown.rho) && read_member(release, "rho_limit", shown.rho_limit) &&
         read_member(release, "epsilon", shown.epsilon) && read_member(release, "delta", shown.delta) &&
         read_text(release, "conversion", shown.conversion);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> read_measured(std::string_view line) {
  simdjson::dom::parser parser;
  simdjson::dom::object measured;
  std::vector<std::pair<std::string, std::string>> settings;
  // A line that is no JSON has no such member either.
  if (parser.parse(line.data(), line.size())["measured"].get(measured) != simdjson::SUCCESS) return settings;
  for (const auto& [key, value] : measured) settings.emplace_back(std::string(key), simdjson::minify(value));
  return settings;
}

std::optional<ShownRelease> read_release(std::string_view line) {
  simdjson::dom::parser parser;
  simdjson::dom::element release;
  ShownRelease shown;
  if (parser.parse(line.data(), line.size()).get(release) != simdjson::SUCCESS) return std::nullopt;
  require_known_format(release);
  // A line without these is no release: a combined model, for example, has no step of its own.
  if (!read_place(release, shown) || !read_cost(release, shown)) return std::nullopt;
  shown.estimate = values_of(release, "estimate");
  if (simdjson::dom::array names; release["not_determined"].get(names) == simdjson::SUCCESS) {
    for (const simdjson::dom::element name : names) {
      if (name.is_string()) shown.not_determined.emplace_back(std::string_view(name));
    }
  }
  // All that follows may be missing: older lines have fewer members.
  shown.average = values_of(release, "average");
  if (release["average_weight"].get(shown.average_weight) != simdjson::SUCCESS) shown.average_weight = 0;
  read_ledger(release, shown);
  read_interval(release, shown);
  read_clipped(release, shown);
  read_strength(release, shown);
  read_instruments(release, shown);
  if (simdjson::dom::element status; release["status"].get(status) == simdjson::SUCCESS)
    shown.status.verdict = text_or_nothing(status, "verdict");
  shown.status.asks_interval = !release["interval"].error();
  if (release["moments"]["floored"].get(shown.sums.floored) != simdjson::SUCCESS) shown.sums.floored = 0;
  if (release["moments"]["records"].get(shown.sums.records) != simdjson::SUCCESS) shown.sums.records = 0;
  if (simdjson::dom::element moments; release["moments"].get(moments) == simdjson::SUCCESS)
    shown.sums.grown = growth_in(moments);
  read_neighbours(release, shown.promise);
  shown.model = text_or_nothing(release, "model");
  return shown;
}

}  // namespace nustream::publish
