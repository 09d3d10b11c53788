#include "record/record_topic.h"

#include "cli/commands.h"

namespace nustream::cli {

Exit record(const RecordArguments& arguments) {
  return recording::run(read_config(arguments.config, arguments.kafka), arguments.options);
}

}  // namespace nustream::cli
