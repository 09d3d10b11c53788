#include "measure/measure.h"

#include <fmt/format.h>

#include "config/mechanism.h"
#include "console/report_parts.h"
#include "nustream/base/error.h"
#include "nustream/ranges/sizes.h"
#include "publish/epsilons.h"
#include "publish/json_writer.h"

namespace nustream::measure {
namespace {

Rho ranges_rho(const config::Config& asked) {
  return Rho{config::rho_asked(asked.privacy).value() * asked.measuring.share};
}

/// Says why `records` records are too few for the ranges' ρ; empty where they are enough, or where their number is
/// not known.
std::string shortage(const config::Config& asked, std::uint64_t records) {
  if (records == 0) return {};
  try {
    static_cast<void>(ranges::sizes({records, asked.schema.features.size() + 1, ranges_rho(asked),
                                     asked.privacy.adjacency, asked.users.has_value()}));
    return {};
  } catch (const InvalidParameter& error) {
    return fmt::format("{} is to be {}", error.name(), error.allowed());
  }
}

std::string what_is_read(const config::Config& asked) {
  if (asked.kafka.brokers.empty()) return "the whole input";
  return fmt::format("the whole input of a file, or the first {} records of partition 0", asked.measuring.records);
}

}  // namespace

std::string plan_json(const config::Config& asked, std::uint64_t records) {
  const Rho all = config::rho_asked(asked.privacy);
  return publish::object_text([&](publish::JsonWriter& json) {
    json.field("stream", asked.stream);
    json.field("records", records);
    json.field("rho", all.value());
    json.field("rho_ranges", ranges_rho(asked).value());
    json.field("rho_run", all.value() - ranges_rho(asked).value());
    publish::append_epsilons("epsilons", publish::epsilons_of(all, asked.privacy.deltas()), json);
    if (asked.users) json.field("protects", "user");
    json.elements("measured", asked.measuring.keys);
    if (const std::string few = shortage(asked, records); !few.empty()) json.field("too_few", few);
  });
}

std::string plan_text(const config::Config& asked, std::uint64_t records) {
  const Rho all = config::rho_asked(asked.privacy);
  std::string keys;
  for (const std::string& key : asked.measuring.keys) keys += (keys.empty() ? "" : ", ") + key;
  std::string out = fmt::format(
      "{}: {} {} measured first, over {}, in an epoch of its own\n"
      "rho {:.6g} in all: {:.6g} of it (ranges.share = {:g}) for what is measured, {:.6g} for the run behind it\n",
      asked.file, keys, asked.measuring.keys.size() == 1 ? "is" : "are", what_is_read(asked), all.value(),
      ranges_rho(asked).value(), asked.measuring.share, all.value() - ranges_rho(asked).value());
  if (asked.users) out += "each rho is per user: what one user adds to any figure that is measured is bounded\n";
  for (const publish::Epsilons& at : publish::epsilons_of(all, asked.privacy.deltas())) {
    out += fmt::format("epsilon {}\n", console::epsilon_text(at));
  }
  const std::string few = shortage(asked, records);
  if (!few.empty()) out += fmt::format("{} records are too few for that: {}\n", records, few);
  return out +
         "What the noise leaves depends on what is measured: --write-config writes a file that a plan can be made "
         "of\n";
}

}  // namespace nustream::measure
