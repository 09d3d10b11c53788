#include "replay/replay.h"

#include <memory>

#include "cli/commands.h"

namespace nustream::cli {
namespace {

struct Arguments {
  ConfigArguments config;
  std::vector<std::string> files;
  std::optional<std::uint32_t> lane;
  bool resume = false;
  bool new_epoch = false;
  std::string speed = "max";
  replay::Options options;
};

/// "max", or a factor such as 60x.
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

Exit replay(Arguments arguments) {
  config::Config config = config::read_config(arguments.config.file, arguments.config.overrides);
  // Files on the command line are relative to the working directory, not to the configuration.
  if (!arguments.files.empty()) config.input.files = arguments.files;
  if (config.input.files.empty()) {
    throw Failure(Exit::configuration, arguments.config.file + ": stream.input is missing; set it, or name FILE after "
                                       "the configuration");
  }
  if (arguments.lane) config.lane = LaneId{*arguments.lane};
  replay::Options options = arguments.options;
  if (arguments.resume) options.start = replay::Start::resume;
  if (arguments.new_epoch) options.start = replay::Start::new_epoch;
  options.speed = speed_factor(arguments.speed);
  return replay::run(std::move(config), options);
}

}  // namespace

void add_replay(CLI::App& app, Job& job) {
  CLI::App* command = app.add_subcommand("replay", "a recorded stream becomes a private model");
  auto arguments = std::make_shared<Arguments>();
  replay::Options& options = arguments->options;
  add_config_arguments(*command, arguments->config);
  command->add_option("FILE", arguments->files, "recorded streams in place of stream.input; - is standard input");
  auto* resume = command->add_flag("--resume", arguments->resume, "go on from the committed state");
  command->add_flag("--new-epoch", arguments->new_epoch, "begin a new noise epoch behind the committed state")
      ->excludes(resume);
  command->add_option("--lane", arguments->lane, "number of this lane (stream.lane)");
  command->add_option("--from", options.from, "first record: its ordinal, or an ISO 8601 time where times are public");
  command->add_option("--to", options.to, "stop before this record: ordinal or time");
  command->add_option("--passes", options.passes, "read the whole input this often (k); needs files, not a pipe")
      ->check(CLI::PositiveNumber);
  command->add_option("--speed", arguments->speed, "max, or a multiple of the recorded pace such as 1x or 60x");
  command->add_option("--insecure-seed", options.insecure_seed,
                      "noise that anybody can compute, for tests: every output says private: false");
  command->add_flag("--json", options.json, "print the final table as JSON");
  command->add_flag("--quiet", options.quiet, "print nothing but errors");
  command->callback([=, &job] { job = [=] { return replay(*arguments); }; });
}

}  // namespace nustream::cli
