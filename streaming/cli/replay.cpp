#include "replay/replay.h"

#include "cli/commands.h"
#include "cli/measured.h"
#include "decode/segment_rows.h"
#include "located.h"

namespace nustream::cli {
namespace {

/// Reads "max", which gives no factor, or a factor such as 60x.
std::optional<double> speed_factor(const std::string& text) {
  if (text == "max") return std::nullopt;
  std::size_t end = 0;
  double factor = 0;
  try {
    factor = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  if (end == 0 || text.substr(end) != "x" || !(factor > 0)) {
    throw Failure(Exit::usage, "--speed " + text + ": write max, or a factor such as 1x or 60x");
  }
  return factor;
}

/// Reads the file as a stream's, also where it describes a table as well. Where it describes a table alone, the
/// failure names the command that takes it.
config::Config read_stream(const std::string& file, const std::vector<std::string>& overrides) {
  const auto read = [&] { return config::read_config_to_measure(file, overrides, config::Purpose::stream); };
  if (config::purpose_of(file, overrides) == config::Purpose::stream) return read();
  return with_advice(Exit::configuration,
                     "with its section [estimate] this file is a table's: nustream estimate takes it as it is", read);
}

}  // namespace

Exit replay(const ReplayArguments& arguments) {
  const auto& [file, overrides] = arguments.config;
  config::Config config = read_stream(file, overrides);
  // Files on the command line are relative to the working directory, those of the configuration to its folder.
  const folder::Options& typed = arguments.options;
  if (!typed.files.empty()) config.input.files = typed.files;
  if (config.input.files.empty()) {
    throw Failure(Exit::configuration, arguments.config.file +
                                           ": stream.input is missing; set it, or name FILE after "
                                           "the configuration");
  }
  if (typed.lane) {
    config.lane = LaneId{*typed.lane};
    config.input.partition.reset();  // --lane is said on purpose: any partition may be this lane
  } else if (!config.input.partition && config.input.files.size() == 1 &&
             decode::is_segment(config.input.files.front())) {
    config.lane = LaneId{decode::segment_header(config.input).partition};  // the lane that attach would have for it
  }
  folder::Options options = typed;
  if (arguments.resume) options.start = folder::Start::resume;
  if (arguments.new_epoch) options.start = folder::Start::new_epoch;
  options.speed = speed_factor(arguments.speed);
  folder::AccountShare share(folder::share_of(config, !options.insecure_seed), config.privacy.budget);
  measure::Settled settled =
      settle_ranges(std::move(config), config::Purpose::stream, options, arguments.write_config, share);
  return replay::run(std::move(settled.config), settled.options, share);
}

}  // namespace nustream::cli
