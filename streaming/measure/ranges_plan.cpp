// What a plan says of settings that will be measured: the division of ρ, what a user may spend over several windows,
// and whether records or users are too few. It reads settings and public counts alone, since nothing is measured yet.
#include "measure/measure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "config/advice.h"
#include "config/mechanism.h"
#include "console/report_parts.h"
#include "engine/spent.h"
#include "measure/fit.h"
#include "nustream/base/error.h"
#include "nustream/privacy/group.h"
#include "nustream/privacy/sensitivity.h"
#include "nustream/privacy/zcdp.h"
#include "nustream/ranges/sizes.h"
#include "nustream/users/over_windows.h"
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
    // The sizes themselves are of no interest: the exception says what would be enough.
    static_cast<void>(ranges::sizes({records, asked.schema.features.size() + 1, ranges_rho(asked),
                                     asked.privacy.adjacency, asked.users.has_value()}));
    return {};
  } catch (const InvalidParameter& error) {
    return fmt::format("{} is to be {}", error.name(), error.allowed());
  }
}

std::string large_delta(const config::Config& asked, const InputSize& size) {
  return publish::large_delta(asked.privacy.deltas(), size.records);
}

/// Says that a file of so many records would be refused, since none is left for a step; a topic goes on.
std::string no_step(const config::Config& asked, std::uint64_t records) {
  return asked.kafka.brokers.empty() ? config::too_few_for_a_step(asked, records) : std::string();
}

bool has_few_users(const config::Config& asked, const InputSize& size) {
  return asked.users && size.users > 0 && size.users < enough_users(asked);
}

/// What a user with records in several windows of time may have spent: P²·ρ on the measuring, since a user in each
/// window is bounded like a user of its own there, and what users::over_windows() says on the run.
struct OverWindows {
  std::uint64_t windows;
  Rho ranges;
  Rho run;
};

/// Whether the run's correlation is known before anything is measured. By default ν follows from the step size.
bool knows_correlation(const config::Config& asked) {
  return std::ranges::none_of(asked.measuring.keys,
                              [](const std::string& key) { return key == "noise.nu" || key == "descent.step_size"; });
}

/// Empty where no limits hold within windows. Where the run's correlation is not known yet, P²·ρ stands for the run,
/// which is an upper bound for every correlation.
std::vector<OverWindows> spent_over_windows(const config::Config& asked) {
  std::vector<OverWindows> over;
  if (!asked.descent.users || !asked.descent.users->windows()) return over;
  const Rho of_run{config::rho_asked(asked.privacy).value() - ranges_rho(asked).value()};
  for (const std::uint64_t windows : {2U, 4U, 12U}) {
    const double squared = static_cast<double>(windows * windows);
    const Rho run = knows_correlation(asked)
                        ? users::over_windows(of_run, asked.noise.correlation, {}, *asked.descent.users, windows).rho
                        : Rho{squared * of_run.value()};
    over.push_back({windows, Rho{squared * ranges_rho(asked).value()}, run});
  }
  return over;
}

std::string windows_text(const std::vector<OverWindows>& over) {
  std::string out;
  for (const OverWindows& one : over) {
    out += fmt::format("{} rho {:.6g} in {} windows", out.empty() ? "" : ",", one.ranges.value() + one.run.value(),
                       one.windows);
  }
  if (out.empty()) return out;
  return fmt::format(
      "each rho is about a user's records within one window; a user with records in several windows is promised at "
      "most, measuring and run together,{}\n",
      out);
}

/// The spend of the run behind the measuring, for records that take part once. Its noise has one correlation in every
/// stage, so that a single σ for all of the run's ρ stands for them.
privacy::Spend spend_of_run(const config::Config& asked, Rho of_run) {
  const noise::Correlation& correlation = asked.noise.correlation;
  const privacy::Participation once = privacy::Participation::once();
  return {correlation, once, privacy::multiplier_for(privacy::sensitivity_limit(correlation, once), of_run)};
}

/// What persons with several records are promised, measuring and run together. The measuring is one step, in which
/// all records of a person move what is measured together: the square of their number holds for it. For the run a
/// tighter bound holds where a step takes one record, once, and the correlation is known. Empty where the unit is the
/// user.
std::vector<publish::GroupSpend> groups_of(const config::Config& asked, const InputSize& size) {
  if (asked.users) return {};
  const Rho all = config::rho_asked(asked.privacy);
  const Delta delta = asked.privacy.delta;
  std::vector<publish::GroupSpend> groups = engine::group_bounds(all, delta);
  const bool takes_part_once = asked.estimate.steps == 0 && !asked.moments && size.passes == 1;
  if (!takes_part_once || asked.descent.minibatch != 1 || !knows_correlation(asked)) return groups;
  const Rho ranges = ranges_rho(asked);
  try {
    const privacy::Spend run = spend_of_run(asked, Rho{all.value() - ranges.value()});
    for (publish::GroupSpend& group : groups) {
      const double sum =
          privacy::group_bound(ranges, group.records).value() + privacy::group_limit(run, group.records).value();
      const double together = std::nextafter(sum, std::numeric_limits<double>::infinity());  // rounded up
      if (together < group.rho.value()) group = publish::group_spend(group.records, Rho{together}, delta);
    }
  } catch (const Unsupported&) {
    // No limit is known for such a correlation; the general bound holds for every one.
  } catch (const InvalidParameter&) {
  }
  return groups;
}

/// Settings that name a broker may still be run over a file, so both cases are told.
std::string what_is_read(const config::Config& asked) {
  if (asked.kafka.brokers.empty()) return "the whole input";
  return fmt::format("the whole input of a file, or the first {} records of partition 0", asked.measuring.records);
}

}  // namespace

std::string plan_json(const config::Config& asked, const InputSize& size) {
  const Rho all = config::rho_asked(asked.privacy);
  return publish::object_text([&](publish::JsonWriter& json) {
    json.field("stream", asked.stream);
    json.field("records", size.records);
    json.field("rho", all.value());
    json.field("rho_ranges", ranges_rho(asked).value());
    json.field("rho_run", all.value() - ranges_rho(asked).value());
    publish::append_epsilons("epsilons", publish::epsilons_of(all, asked.privacy.deltas()), json);
    publish::append_groups(groups_of(asked, size), json);
    if (asked.users) json.field("protects", "user");
    json.elements("measured", asked.measuring.keys);
    if (const std::vector<OverWindows> over = spent_over_windows(asked); !over.empty()) {
      const auto windows = json.array("windows");
      for (const OverWindows& one : over) {
        const auto object = json.object();
        json.field("windows", one.windows);
        json.field("rho", one.ranges.value() + one.run.value());
        json.field("rho_ranges", one.ranges.value());
        json.field("rho_run", one.run.value());
      }
    }
    if (const std::string few = shortage(asked, size.records); !few.empty()) json.field("too_few", few);
    if (const std::string none = no_step(asked, size.records); !none.empty()) json.field("no_step", none);
    if (has_few_users(asked, size)) json.field("enough_users", enough_users(asked));
    config::append_warnings({config::unit_is_the_record(asked), large_delta(asked, size)}, json);
  });
}

std::string plan_text(const config::Config& asked, const InputSize& size) {
  const Rho all = config::rho_asked(asked.privacy);
  std::string keys;
  for (const std::string& key : asked.measuring.keys) keys += (keys.empty() ? "" : ", ") + key;
  std::string out = fmt::format(
      "{}: {} {} measured first, over {}, in an epoch of its own\n"
      "rho {:.6g} in all: {:.6g} of it (ranges.share = {:g}) for what is measured, {:.6g} for the run behind it\n",
      asked.file, keys, asked.measuring.keys.size() == 1 ? "is" : "are", what_is_read(asked), all.value(),
      ranges_rho(asked).value(), asked.measuring.share, all.value() - ranges_rho(asked).value());
  if (asked.users) out += "each rho is per user: what one user adds to any figure that is measured is bounded\n";
  out += windows_text(spent_over_windows(asked));
  for (const publish::Epsilons& at : publish::epsilons_of(all, asked.privacy.deltas())) {
    out += fmt::format("epsilon {}\n", console::epsilon_text(at));
  }
  out += publish::groups_text(groups_of(asked, size), asked.privacy.delta.value());
  if (!lines_of_a_part(asked).empty() && !asked.kafka.brokers.empty()) {
    out +=
        "nustream attach measures a first part alone, so that the units of its running sums grow with the stream "
        "(moments.stages)\n";
  }
  for (const std::string& each : {config::unit_is_the_record(asked), large_delta(asked, size)}) {
    if (!each.empty()) out += each + '\n';
  }
  const std::string few = shortage(asked, size.records);
  if (!few.empty()) out += fmt::format("{} records are too few for that: {}\n", size.records, few);
  if (const std::string none = no_step(asked, size.records); !none.empty()) out += none + '\n';
  if (has_few_users(asked, size)) {
    out += fmt::format(
        "{} users are few for that: each counts once in a histogram, and it takes about {} to show through the "
        "noise; where nothing is found, what the measuring costs is spent all the same\n",
        size.users, enough_users(asked));
  }
  return out +
         "What the noise leaves depends on what is measured, which costs rho: a run (replay, estimate, attach) with "
         "--write-config FILE measures, and writes a configuration that a plan can be made of\n";
}

}  // namespace nustream::measure
