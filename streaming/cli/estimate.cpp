#include "estimate/estimate.h"

#include "cli/commands.h"
#include "cli/measured.h"

namespace nustream::cli {

Exit estimate(const EstimateArguments& arguments) {
  const auto& [file, overrides] = arguments.config;
  config::Config config = config::read_config_to_measure(file, overrides, config::Purpose::table);
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
  folder::Options session;
  session.command = "estimate";
  session.start = options.start;
  session.files = arguments.files;
  session.insecure_seed = options.insecure_seed;
  session.compared = options.compare_nonprivate;
  session.min_usable = options.min_usable;
  session.json = options.json;
  session.quiet = options.quiet;
  folder::AccountShare share(folder::share_of(config, !options.insecure_seed && !options.compare_nonprivate),
                             config.privacy.budget);
  measure::Settled settled =
      settle_ranges(std::move(config), config::Purpose::table, session, arguments.write_config, share);
  options.start = settled.options.start;
  return estimate::run(std::move(settled.config), options, share);
}

}  // namespace nustream::cli
