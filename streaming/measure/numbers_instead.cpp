// Reads the values from the end of the folder's releases, and builds the command from them.
#include "measure/numbers_instead.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "journal/disk.h"
#include "journal/last_release.h"
#include "journal/outbox_folder.h"
#include "publish/release_json.h"
#include "shell_word.h"

namespace nustream::measure {
namespace {

/// "--set KEY=NUMBER " for all that is "private"; nothing where the folder's last release does not tell all values.
std::optional<std::string> measured_before(const config::Config& asked) {
  const std::filesystem::path releases =
      std::filesystem::path(asked.state.directory) / journal::folder_files::releases;
  const auto told = publish::read_measured(journal::last_line(*journal::posix_disk(), releases));
  std::string words;
  for (const std::string& key : asked.measuring.keys) {
    const auto found = std::ranges::find(told, key, &std::pair<std::string, std::string>::first);
    if (found == told.end()) return std::nullopt;
    words += "--set " + in_shell(key + "=" + found->second) + " ";
  }
  return words;
}

}  // namespace

std::string numbers_instead(const config::Config& asked, const folder::Options& options) {
  const std::optional<std::string> settings = measured_before(asked);
  // A replay would go on behind the furthest record that was read, where none may be left.
  const std::string from = options.command == "replay" ? " --from " + in_shell(options.from.value_or("0")) : "";
  const std::string command = folder::command_to_go_on(asked, options, settings.value_or("") + "--new-epoch" + from);
  const std::string numbers =
      settings
          ? "begin a new noise epoch with the numbers that were measured"
          : "put numbers in the place of \"private\" in the settings (the last release told them as \"measured\", "
            "and so did the run's end), and then begin a new noise epoch";
  return fmt::format(
      "{}, which is charged on top of all that was spent, with: {}; or, for other records, name another "
      "state.directory",
      numbers, command);
}

}  // namespace nustream::measure
