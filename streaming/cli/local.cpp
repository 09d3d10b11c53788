// `nustream local randomize` and `nustream local collect`: from the command line to the settings of local privacy.
// What they do is in streaming/local.
#include "cli/commands.h"
#include "local/commands.h"

namespace nustream::cli {

Exit local_randomize(const LocalRandomizeArguments& arguments) {
  local::Settings settings = local::read_settings(arguments.config.file, arguments.config.overrides);
  if (!arguments.file.empty()) settings.input.files = {arguments.file};
  if (settings.input.files.empty()) settings.input.files = {"-"};
  return local::randomize(settings, arguments.options);
}

Exit local_collect(const LocalCollectArguments& arguments) {
  local::Settings settings =
      local::read_settings(arguments.config.file, overrides_of(arguments.config, arguments.kafka));
  add_properties(arguments.kafka, settings.kafka);
  local::CollectOptions options = arguments.options;
  options.until_end = arguments.kafka.until_end;
  // The file may hold [kafka] for other uses. Only a topic that was typed contradicts files that were typed.
  const bool by_name = !arguments.kafka.topic.empty() || !arguments.kafka.brokers.empty();
  if (!options.files.empty() && by_name) {
    throw Failure(Exit::usage, "reports come from FILE or from a topic: name one of the two");
  }
  const bool from_topic = options.files.empty() && !settings.kafka.brokers.empty();
  if ((options.until_end || options.from_start) && !from_topic) {
    throw Failure(Exit::usage, "--until-end and --from-start are for a topic: name its brokers with -b");
  }
  return local::collect(settings, options);
}

}  // namespace nustream::cli
