#include <filesystem>

#include <fmt/format.h>

#include "cli/commands.h"
#include "journal/outbox_folder.h"
#include "journal/rotate_key.h"
#include "kafka/rotate_keys.h"
#include "located.h"
#include "publish/json_text.h"
#include "secrets/harden.h"
#include "secrets/hex.h"
#include "secrets/key_file.h"

namespace nustream::cli {

namespace {

/// {"file":…,"fingerprint":…}: the fingerprint is in every state and ledger line under this key, and tells nothing
/// else about it.
void print_json(const std::string& file, const secrets::Keyring& keys) {
  std::string text = "{\"file\":";
  publish::append_string(file, text);
  text += ",\"fingerprint\":";
  publish::append_string(secrets::to_hex(keys.fingerprint()), text);
  fmt::print("{}}}\n", text);
}

}  // namespace

Exit key_new(const KeyArguments& arguments) {
  secrets::harden_process();
  secrets::create_key_file(arguments.file);
  if (arguments.json) {
    print_json(arguments.file, secrets::load_key_file(arguments.file));
  } else {
    fmt::print("{}: a new key; whoever holds it together with a state can open that state's noise\n", arguments.file);
  }
  return Exit::done;
}

namespace {

/// Returns the key file that is not needed any more.
std::string rotate_folder(const RotateArguments& arguments, const secrets::Keyring& new_keys) {
  const std::filesystem::path folder = arguments.place;
  std::string old_key =
      arguments.old_key.empty() ? (folder / journal::folder_files::key).string() : arguments.old_key;
  const auto disk = journal::posix_disk();
  const secrets::Keyring old_keys =
      with_advice(Exit::permission, "--key-file names the one that the state is sealed under",
                  [&] { return secrets::load_key_file(old_key); });
  journal::rotate_key(*disk, folder, old_keys, new_keys);
  return old_key;
}

/// The same.
std::string rotate_stream(const RotateArguments& arguments, const secrets::Keyring& new_keys) {
  config::Config config = config::read_config(arguments.place, {});
  if (config.kafka.brokers.empty()) throw Failure(Exit::configuration, config.file + ": kafka.brokers is missing");
  std::string old_key = arguments.old_key.empty() ? config.state.key_file : arguments.old_key;
  if (old_key.empty()) throw Failure(Exit::configuration, config.file + ": state.key_file is missing");
  config.kafka.properties.try_emplace("transaction.timeout.ms", std::to_string(config.kafka.transaction.count()));
  kafka::check_properties(config.kafka.properties);
  static_cast<void>(kafka::rotate_keys({config.kafka.brokers, config.kafka.properties}, config.stream, config.kafka,
                                       secrets::load_key_file(old_key), new_keys));
  return old_key;
}

}  // namespace

Exit key_rotate(const RotateArguments& arguments) {
  secrets::harden_process();
  const secrets::Keyring new_keys = secrets::load_key_file(arguments.new_key);
  std::error_code unknown;  // what cannot be looked at is told by whoever opens it
  const bool is_stream = std::filesystem::is_regular_file(arguments.place, unknown);
  const std::string old_key = is_stream ? rotate_stream(arguments, new_keys) : rotate_folder(arguments, new_keys);
  if (arguments.json) {
    print_json(arguments.new_key, new_keys);
    return Exit::done;
  }
  fmt::print(
      "{}: sealed under {}; {} opens old copies of the state only and can be destroyed\n"
      "from now on: state.key_file = \"{}\" in the configuration, --key-file {} with inspect\n",
      arguments.place, arguments.new_key, old_key, arguments.new_key, arguments.new_key);
  return Exit::done;
}

}  // namespace nustream::cli
