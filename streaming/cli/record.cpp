#include "record/record_topic.h"

#include "cli/commands.h"
#include "config/ranges.h"

namespace nustream::cli {

Exit record(const RecordArguments& arguments) {
  // A recording is what is measured: it needs none of the numbers.
  config::Config config = config::read_config_to_measure(
      arguments.config.file, overrides_of(arguments.config, arguments.kafka), config::Purpose::stream);
  add_properties(arguments.kafka, config.kafka.properties);
  return recording::run(config, arguments.options);
}

}  // namespace nustream::cli
