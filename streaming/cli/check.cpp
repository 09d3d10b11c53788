#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/warnings.h"
#include "config/advice.h"
#include "config/config.h"
#include "config/mechanism.h"
#include "config/settings_tree.h"
#include "engine/budget_advice.h"
#include "local/settings.h"
#include "publish/json_text.h"
#include "serve/settings.h"

namespace nustream::cli {

namespace {

/// Settings of local privacy, which are others than a stream's.
bool is_local(const ConfigArguments& config) {
  return config::SettingsTree(config.file, config.overrides).root().has("local");
}

Exit check_local(const CheckArguments& arguments) {
  const local::Settings settings = local::read_settings(arguments.config.file, arguments.config.overrides);
  const inference::LocalMechanism mechanism = local::make_mechanism(settings);
  const std::string digest = local::mechanism_digest(settings);
  if (arguments.json) {
    std::string line = "{\"valid\":true,\"stream\":";
    publish::append_string(settings.stream, line);
    fmt::print("{},\"digest\":\"{}\"}}\n", line, digest);
    return Exit::done;
  }
  fmt::print("{}: valid; stream {}, {} features, mechanism digest {}\n", arguments.config.file, settings.stream,
             settings.bounds.dimension, digest);
  fmt::print("each report costs epsilon {:.6g} at delta {:.3g}; noise {:.6g} on x x', {:.6g} on x(y - {:.6g})\n",
             mechanism.epsilon().value(), settings.budget.delta.value(), mechanism.noise().second_moment.value(),
             mechanism.noise().cross_moment.value(), settings.bounds.label_centre);
  return Exit::done;
}

/// The noise of a table follows from how many records it has: its digest is known only with them.
Exit check_table(const CheckArguments& arguments) {
  const config::Config config =
      config::read_config(arguments.config.file, arguments.config.overrides, config::Purpose::table);
  if (arguments.json) {
    std::string line = "{\"valid\":true,\"stream\":";
    publish::append_string(config.stream, line);
    fmt::print("{},\"steps\":{}}}\n", line, config.estimate.steps);
  } else {
    fmt::print("{}: valid; table {}, {} parameters, {} steps (settings alone: no record was read)\n",
               arguments.config.file, config.stream, config.descent.dimension, config.estimate.steps);
  }
  return Exit::done;
}

}  // namespace

Exit check(const CheckArguments& arguments) {
  if (is_local(arguments.config)) return check_local(arguments);
  const config::Purpose purpose = config::purpose_of(arguments.config.file, arguments.config.overrides);
  if (purpose == config::Purpose::table) return check_table(arguments);
  const config::Config config = config::read_config(arguments.config.file, arguments.config.overrides);
  serve::check(config.serve);
  const config::Mechanism mechanism = config::make_mechanism(config, privacy::Participation::once());
  const std::string digest = config::settings_digest(config, mechanism);
  const std::vector<std::string> advice{config::overshoot(config), engine::short_of_budget(config, mechanism)};
  if (arguments.json) {
    std::string line = "{\"valid\":true,\"stream\":";
    publish::append_string(config.stream, line);
    line += ",\"digest\":\"" + digest + "\"";
    append_warnings(advice, line);
    fmt::print("{}}}\n", line);
  } else {
    fmt::print("{}: valid; stream {}, {} parameters, settings digest {} (settings alone: no record was read)\n",
               arguments.config.file, config.stream, config.descent.dimension, digest);
    for (const std::string& each : advice) {
      if (!each.empty()) fmt::print("but {}\n", each);
    }
  }
  return Exit::done;
}

}  // namespace nustream::cli
