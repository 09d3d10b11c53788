// Makes the values of committed.h from bytes that are public already, by reading those bytes again. So nothing that a
// lane computed can reach a page without having been published.
#include "serve/committed.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "error.h"

namespace nustream::serve {
namespace {

/// The numbers of an object by name; none where there is no such object. A null, which stands for a number that JSON
/// cannot write, becomes NaN.
publish::NamedValues values_of(const simdjson::dom::object& model, std::string_view key) {
  publish::NamedValues values;
  simdjson::dom::object object;
  if (model[key].get(object) != simdjson::SUCCESS) return values;
  for (const auto field : object) {
    double value = std::numeric_limits<double>::quiet_NaN();
    if (field.value.get(value) != simdjson::SUCCESS) value = std::numeric_limits<double>::quiet_NaN();
    values.emplace_back(field.key, value);
  }
  return values;
}

}  // namespace

CommittedSpend CommittedSpend::committed(const journal::LedgerEntry& entry, Rho total) {
  return {entry.lane, entry.epoch, entry.steps, entry.rho, total};
}

CommittedRelease CommittedRelease::published(std::string_view outbox, std::optional<double> at) {
  constexpr const char* no_release =
      "a published outbox holds something else than whole releases; please report this";
  if (!outbox.ends_with('\n')) throw Failure(Exit::internal, no_release);
  // The newline of the last line is passed over; the one before it ends the line before. An outbox of one line has
  // none.
  const std::size_t before_last = outbox.rfind('\n', outbox.size() - 2);
  const std::size_t begin = outbox.size() < 2 || before_last == std::string_view::npos ? 0 : before_last + 1;
  // Only the last line is parsed here; the history parses those of the others that it keeps.
  std::optional<publish::ShownRelease> last = publish::read_release(outbox.substr(begin));
  // The bytes are this program's own, so that anything else is a bug.
  if (!last) throw Failure(Exit::internal, no_release);
  return {outbox, *std::move(last), static_cast<std::uint64_t>(std::count(outbox.begin(), outbox.end(), '\n')), at};
}

CommittedPast CommittedPast::found(LaneId lane, EpochId epoch, std::string_view lines) {
  std::string kept;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size() - 1) + 1;
    const auto release = publish::read_release(lines.substr(0, end));
    if (release && release->lane == lane && release->epoch == epoch) kept += lines.substr(0, end);
    lines.remove_prefix(end);
  }
  return {lane, epoch, std::move(kept)};
}

CommittedModel CommittedModel::published(std::string_view record) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(record.data(), record.size()).get(object) != simdjson::SUCCESS) {
    throw Failure(Exit::internal, "a published combined model is not a JSON object; please report this");
  }
  // The object becomes a part of the state page, which is one line of JSON.
  std::string text(record.size(), '\0');
  std::size_t size = 0;
  const auto error = simdjson::minify(record.data(), record.size(), text.data(), size);
  if (error != simdjson::SUCCESS) throw Failure(Exit::internal, "a combined model cannot be minified");
  text.resize(size);
  simdjson::dom::array parts;
  std::uint64_t lanes = 0;
  publish::ShownRelease mean;
  if (object["parts"].get(parts) == simdjson::SUCCESS) {
    for (const simdjson::dom::element part : parts) {
      lanes += part.is_object() ? 1U : 0U;
      std::uint64_t steps = 0;
      if (part["step"].get(steps) == simdjson::SUCCESS) mean.step += steps;
    }
  }
  mean.estimate = values_of(object, "estimate");
  mean.average = values_of(object, "average");
  if (object["moments"]["records"].get(mean.sums.records) != simdjson::SUCCESS) mean.sums.records = 0;
  if (object["moments"]["floored"].get(mean.sums.floored) != simdjson::SUCCESS) mean.sums.floored = 0;
  return {std::move(text), lanes, std::move(mean)};
}

}  // namespace nustream::serve
