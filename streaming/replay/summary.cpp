#include "replay/summary.h"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include "publish/json_text.h"
#include "replay/path_printer.h"

namespace nustream::replay {
namespace {

using Values = std::vector<std::pair<std::string, double>>;

const char* name(Ending ending) {
  switch (ending) {
    case Ending::input:
      return "input ended";
    case Ending::interrupted:
      return "interrupted";
    case Ending::drained:
      return "drained";
    case Ending::exhausted:
      return "budget or horizon reached";
  }
  return "";
}

void print_estimates(const publish::ShownRelease& release, std::uint64_t average_from, std::FILE* out) {
  std::size_t width = 8;
  for (const auto& [feature, value] : release.estimate) width = std::max(width, feature.size());
  const bool averaged = !release.average.empty();
  fmt::print(out, "{:<{}}  {:>14}", "estimate", width, "last");
  if (averaged) fmt::print(out, "  {:>14}", "averaged");
  fmt::print(out, "{}\n", averaged ? fmt::format("   (averaged after step {})", with_separators(average_from)) : "");
  for (std::size_t j = 0; j < release.estimate.size(); ++j) {
    fmt::print(out, "{:<{}}  {:>14}", release.estimate[j].first, width, shown_number(release.estimate[j].second));
    if (averaged) fmt::print(out, "  {:>14}", shown_number(release.average[j].second));
    fmt::print(out, "\n");
  }
}

void append_object(std::string_view key, const Values& values, std::string& out) {
  out += ",\"" + std::string(key) + "\":{";
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (j > 0) out += ',';
    publish::append_string(values[j].first, out);
    out += ':';
    publish::append_number(values[j].second, out);
  }
  out += '}';
}

void append_field(std::string_view key, std::string_view text, std::string& out) {
  out += ",\"" + std::string(key) + "\":";
  publish::append_string(text, out);
}

template <class Number>
  requires std::is_arithmetic_v<Number>
void append_field(std::string_view key, Number number, std::string& out) {
  out += ",\"" + std::string(key) + "\":";
  publish::append_number(number, out);
}

}  // namespace

void print_table(const Summary& summary, std::FILE* out) {
  fmt::print(out, "\n");
  if (summary.release) print_estimates(*summary.release, summary.average_from, out);
  fmt::print(out, "{:<16}{}\n", "steps", with_separators(summary.steps));
  fmt::print(out, "{:<16}{:.6g} of at most {:.6g} (zCDP, per record)\n", "rho spent", summary.rho, summary.rho_limit);
  if (summary.ledger_rho > summary.rho) {
    fmt::print(out, "{:<16}{:.6g} (over all epochs of this folder)\n", "ledger total", summary.ledger_rho);
  }
  fmt::print(out, "{:<16}{:.4g} at delta {:g} ({}: the exact curve of the Gaussian mechanism)\n", "epsilon",
             summary.epsilon, summary.delta, summary.conversion);
  if (!summary.is_private) fmt::print(out, "{:<16}false: the noise came from an insecure seed\n", "private");
  fmt::print(out, "{:<16}{}\n{:<16}{}\n{:<16}{}\n", "releases", summary.places.releases, "state",
             summary.places.state, "ledger", summary.places.ledger);
  if (!summary.places.key.empty()) fmt::print(out, "{:<16}{} (keep it secret)\n", "key", summary.places.key);
  std::fflush(out);
  if (summary.counts.rejected > 0 || summary.counts.left_over > 0) {
    fmt::print(stderr, "operator only, not private: {} of {} records could not be used (zero-gradient steps)",
               with_separators(summary.counts.rejected), with_separators(summary.counts.records));
    if (summary.counts.left_over > 0)
      fmt::print(stderr, "; {} left over, fewer than a minibatch", summary.counts.left_over);
    fmt::print(stderr, "\n");
  }
}

std::string to_json(const Summary& summary) {
  std::string out = "{\"stream\":";
  publish::append_string(summary.stream, out);
  append_field("epoch", std::uint64_t{summary.epoch}, out);
  append_field("steps", summary.steps, out);
  if (summary.release) {
    append_object("estimate", summary.release->estimate, out);
    if (!summary.release->average.empty()) append_object("average", summary.release->average, out);
  }
  append_field("rho", summary.rho, out);
  append_field("rho_limit", summary.rho_limit, out);
  append_field("ledger_rho", summary.ledger_rho, out);
  append_field("epsilon", summary.epsilon, out);
  append_field("delta", summary.delta, out);
  append_field("conversion", summary.conversion, out);
  out += summary.is_private ? ",\"private\":true" : ",\"private\":false";
  append_field("ending", name(summary.ending), out);
  append_field("releases", summary.places.releases, out);
  append_field("state", summary.places.state, out);
  append_field("ledger", summary.places.ledger, out);
  out += ",\"operator\":{\"private\":false";
  append_field("records", summary.counts.records, out);
  append_field("rejected", summary.counts.rejected, out);
  append_field("left_over", summary.counts.left_over, out);
  return out + "}}";
}

}  // namespace nustream::replay
