// The words of the refusals. Each says what was found, names the folder, and ends with the commands that go on.
#include "folder/refusals.h"

#include <fmt/format.h>

#include "config/typed.h"

namespace nustream::folder {
namespace {

/// The two commands that lead on from a state that is there.
std::string restart_hint(const config::Config& config, const Options& options, const std::string& new_epoch) {
  return "go on from it with: " + command_to_go_on(config, options, "--resume") +
         "; or begin a new noise epoch behind it with: " + command_to_go_on(config, options, new_epoch);
}

}  // namespace

void require_folder(const config::Config& config) {
  const std::string& folder = config.state.directory;
  std::error_code unknown;
  const auto status = std::filesystem::status(folder, unknown);
  // What cannot be looked at is reported by whoever opens it.
  if (!std::filesystem::exists(status) || std::filesystem::is_directory(status)) return;
  throw Failure(Exit::io,
                fmt::format("{}: state.directory = '{}' is a file; name a folder, which is made where it is "
                            "missing",
                            config::set_or_file(config, "state.directory"), folder));
}

Failure state_is_there(const secrets::StateIdentity& state, const config::Config& config, const Options& options,
                       const std::string& new_epoch) {
  // Neither --resume nor --new-epoch leads on from a state of another stream.
  const bool is_own = state.stream == config.stream && state.lane == config.lane;
  const std::string next =
      is_own ? restart_hint(config, options, new_epoch)
             : fmt::format(
                   "this run is of stream {}, lane {}: give it the name that made the state (stream.name, "
                   "--lane), or choose another state.directory",
                   config.stream, config.lane.value());
  return {Exit::data,
          fmt::format("{}: holds a state (stream {}, lane {}, epoch {}, step {}); {}", config.state.directory,
                      state.stream, state.lane.value(), state.epoch.value(), state.steps.value(), next)};
}

Failure nothing_to_resume(const std::filesystem::path& folder) {
  return {Exit::data, folder.string() +
                          ": holds no state to resume; is state.directory right, seen from the folder where this "
                          "runs? A first run starts without --resume"};
}

Failure remains_without_state(const config::Config& config, const Options& options, const std::string& new_epoch) {
  return {Exit::data,
          fmt::format("{}: holds releases or a ledger but no state; restore the state, or begin a new noise "
                      "epoch behind them with: {}",
                      config.state.directory, command_to_go_on(config, options, new_epoch))};
}

Failure other_kind(const std::string& folder, bool is_private) {
  return {Exit::data,
          folder + (is_private
                        ? ": holds a state that is not private (insecure seed or comparison) and never becomes so; "
                          "choose another state.directory"
                        : ": holds a private state, which no insecure seed and no comparison may go on with; choose "
                          "another state.directory")};
}

Failure is_older(const journal::FolderWitness& witness, const secrets::StateIdentity& state,
                 const config::Config& config, const std::string& new_epoch) {
  return {
      Exit::data,
      fmt::format("{}: holds an older state (epoch {}, step {}), or another copy's, than the last one that was "
                  "committed ({}, as {} tells): resumed, it would spend twice. Restore the newest state; or begin a "
                  "new noise epoch, which is charged on top of all that was spent, with: {}",
                  config.state.directory, state.epoch.value(), state.steps.value(), witness.told(),
                  witness.file().string(), new_epoch)};
}

Failure is_forgotten(const journal::FolderWitness& witness, const config::Config& config,
                     const std::string& new_epoch) {
  return {
      Exit::data,
      fmt::format("{}: state, ledger and releases are gone, and with them what was spent ({}, as {} tells). Restore "
                  "the folder; or begin a new noise epoch, which is charged on top of it, with: {}; or, for other "
                  "records, name another state.directory",
                  config.state.directory, witness.told(), witness.file().string(), new_epoch)};
}

}  // namespace nustream::folder
