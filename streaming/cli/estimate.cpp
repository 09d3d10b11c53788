#include "estimate/estimate.h"

#include "cli/commands.h"

namespace nustream::cli {

Exit estimate(const EstimateArguments& arguments) {
  config::Config config =
      config::read_config(arguments.config.file, arguments.config.overrides, config::Purpose::table);
  if (!arguments.files.empty()) config.input.files = arguments.files;
  if (config.input.files.empty()) {
    throw Failure(Exit::configuration, arguments.config.file +
                                           ": stream.input is missing; set it, or name FILE after "
                                           "the configuration");
  }
  estimate::Options options = arguments.options;
  options.files = arguments.files;
  if (arguments.resume) options.start = folder::Start::resume;
  if (arguments.new_epoch) options.start = folder::Start::new_epoch;
  return estimate::run(std::move(config), options);
}

}  // namespace nustream::cli
