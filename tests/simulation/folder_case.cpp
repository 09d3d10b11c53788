#include "folder_case.h"

#include <cmath>
#include <fstream>
#include <vector>

#include <fmt/format.h>

#include "replay/stream_input.h"
#include "secrets/key_file.h"
#include "user_windows.h"

namespace nustream::tests {
namespace {

/// The key file of this process, for histories whose epochs draw fresh keys.
const std::string& key_file() {
  static const std::string path = [] {
    std::string made = scratch_folder() + "/key";
    secrets::create_key_file(made);
    return made;
  }();
  return path;
}

std::string draw_input_text(Draws& draws, const RandomStream& stream, std::uint64_t records, const Given* given) {
  std::string text;
  std::vector<double> times;
  if (stream.times == RandomStream::Times::of_column) times = some_times(draws.random, records);
  for (std::uint64_t i = 0; i < records; ++i) {
    const bool has_time = !times.empty() && !std::isnan(times[i]);
    const std::string time = has_time ? fmt::format("{}", 1e9 + times[i]) : "";
    text += given ? given->records[i].value.value_or("") : random_record(stream, draws.random(), time);
    text += '\n';
  }
  return text;
}

std::string draw_state_section(Draws& draws, bool fresh_keys) {
  return fmt::format("[state]\ndirectory = \"{}\"\ncommit_records = {}\ncommit_seconds = {}\nrejects = {}\n{}",
                     folder_paths::folder, 1 + draws.draw(60), draws.draw(2) == 0 ? 0.05 : 5.0, draws.draw(2) == 0,
                     fresh_keys ? "key_file = \"" + key_file() + "\"\nwitness = \"none\"\n" : "");
}

std::optional<FolderCase> try_folder_case(Draws& draws, std::uint64_t seed, const Given* given,
                                          std::uint64_t given_passes) {
  const std::uint64_t steps = 20 + draws.draw(80);
  const std::uint64_t passes = given ? given_passes : draws.draw(3) == 0 ? 2 + draws.draw(2) : 1;
  const RandomStream stream =
      given ? given->stream
            : random_stream(draws.random(),
                            {.steps = steps * passes, .replace_one = true, .by_user = is_by_user(seed)});
  const std::uint64_t records =
      given ? given->records.size() : steps * stream.minibatch + draws.draw(stream.minibatch);
  const folder::Window window{0, records, passes};
  const std::string input = scratch_folder() + "/records";
  std::ofstream(input, std::ios::binary) << draw_input_text(draws, stream, records, given);
  const bool fresh_keys = !given && draws.draw(5) == 0;
  std::optional<Settings> settings =
      settings_of(stream, draw_state_section(draws, fresh_keys), replay::participation(window, stream.minibatch));
  if (!settings) return std::nullopt;
  FolderCase drawn{std::move(*settings), window, secrets::Keyring::insecure(seed), fresh_keys};
  drawn.settings.config.input.files = {input};
  if (fresh_keys) {
    drawn.keys = secrets::load_key_file(key_file());
    drawn.settings.digest = config::settings_digest(drawn.settings.config, drawn.settings.mechanism);
  }
  return drawn;
}

}  // namespace

std::optional<FolderCase> draw_folder_case(Draws& draws, std::uint64_t seed, const Given* given,
                                           std::uint64_t given_passes) {
  return first_accepted([&] { return try_folder_case(draws, seed, given, given_passes); });
}

}  // namespace nustream::tests
