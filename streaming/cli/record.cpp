#include "record/record_topic.h"

#include "cli/commands.h"
#include "config/ranges.h"

namespace nustream::cli {

Exit record(const RecordArguments& arguments) {
  // Settings that are "private" are accepted here: the recording is what they will be measured from.
  config::Config config = config::read_config_to_measure(
      arguments.config.file, overrides_of(arguments.config, arguments.kafka), config::Purpose::stream);
  add_properties(arguments.kafka, config.kafka.properties);
  return recording::run(config, arguments.options);
}

}  // namespace nustream::cli
