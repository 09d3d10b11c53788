// `nustream key new` and `nustream key rotate` (docs/formats/key.md#rotation). A rotation has steps in several
// places, namely state and ledger, then the witnesses, then the link to the key. Each can be repeated, so that the
// same command, given again after a crash, finishes what is left.
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.h"
#include "journal/folder_witness.h"
#include "journal/outbox_folder.h"
#include "journal/rotate_key.h"
#include "journal/state_record.h"
#include "journal/witness.h"
#include "journal/witness_files.h"
#include "kafka/rotate_keys.h"
#include "located.h"
#include "publish/json_writer.h"
#include "secrets/hex.h"
#include "secrets/key_file.h"
#include "secrets/key_place.h"
#include "secrets/locked_memory.h"

namespace nustream::cli {

namespace {

/// Prints {"file":…,"fingerprint":…}. The fingerprint is in every state and ledger line under this key, and tells
/// nothing else about the key.
void print_json(const std::string& file, const secrets::Keyring& keys) {
  fmt::print("{}\n", publish::object_text([&](publish::JsonWriter& json) {
               json.field("file", file);
               json.field("fingerprint", secrets::to_hex(keys.fingerprint()));
             }));
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

namespace fs = std::filesystem;

/// Where the folder's witness is kept if `key_file` is its key.
journal::WitnessSettings settings_beside(const RotateArguments& arguments, const fs::path& key_file,
                                         const secrets::StateIdentity& identity) {
  return journal::witness_settings(arguments.witness, key_file, arguments.place, {}, identity.stream, identity.lane);
}

/// Lets `witness` record what was rotated. A witness that is there tells of nothing that the folder does not hold,
/// unless a run under the new key began right after the rotation: then that run has told it, and more.
void tell_witness(const journal::Rotated& rotated, journal::FolderWitness witness) {
  witness.find(rotated.account);
  const std::pair rotated_at{rotated.identity.epoch, rotated.identity.steps};
  if (const auto& found = witness.found(); found && std::pair{found->epoch, found->steps} > rotated_at) return;
  const std::string there_is_none = witness.warning();  // no longer true once this is done
  witness.keep();
  witness.committed(rotated.identity.epoch, rotated.identity.steps, rotated.ledger.head, rotated.ledger.epochs);
  witness.finish();
  if (witness.warning() != there_is_none) fmt::print(stderr, "nustream: warning: {}\n", witness.warning());
}

/// Hands the witness over to the new key. First it is written where it is kept from now on. Then it is written where
/// the old key's witness was: the old key opens copies of the folder that were made before the rotation, and the
/// witness there shows that the folder went on.
void hand_over_witness(const RotateArguments& arguments, const fs::path& old_key, const journal::Rotated& rotated,
                       const secrets::Keyring& new_keys) {
  const journal::WitnessSettings now = settings_beside(arguments, arguments.new_key, rotated.identity);
  const journal::WitnessSettings before = settings_beside(arguments, old_key, rotated.identity);
  tell_witness(rotated, {now, new_keys});
  if (before.place.empty() || now.place.empty()) return;
  // One place holds one file, which is written already.
  if (secrets::real_path(before.place) == secrets::real_path(now.place)) return;
  tell_witness(rotated, {before, new_keys});
}

/// Warns where no witness was found under either key: then nobody has looked whether the folder is the newest copy.
void warn_of_no_witness(const fs::path& folder, const journal::RotationWitnesses& witnesses) {
  if (witnesses.old_key.is_known() || witnesses.new_key.is_known() || witnesses.old_key.warning().empty()) return;
  fmt::print(
      stderr,
      "nustream: warning: {}: no witness of it lies beside its key, so that nobody has looked whether it is an "
      "older copy; where state.witness names another place, give the command again with --witness PLACE\n",
      folder.string());
}

/// The other folders whose witnesses beside the key file are under this key, which they still need.
std::vector<std::string> others_under(const fs::path& key_file, const secrets::Keyring& keys,
                                      const journal::AccountId& own) {
  std::vector<std::string> others;
  std::error_code unknown;
  for (const fs::path& file : journal::witness_files(secrets::real_path(key_file).parent_path(), unknown)) {
    const std::optional<journal::WitnessFile> one = journal::read_witness_file(file, keys);
    if (!one || journal::kind_of_witness(one->bytes, keys) != journal::WitnessKind::ours) continue;
    if (one->read.witness.account != own) others.push_back(one->read.witness.folder);
  }
  return others;
}

/// Warns that the folder is an older copy. It is sealed under the new key, and still not the newest.
void warn_of_copy(const fs::path& folder, const journal::FolderWitness& witness) {
  fmt::print(stderr,
             "nustream: warning: {}: is an older copy ({} tells of {}), and stays one under the new key: --resume "
             "refuses it, and --new-epoch charges what it does not know\n",
             folder.string(), witness.file().string(), witness.told());
}

/// Behind the folder's own rotation: tells the witnesses of it. That of an older copy stays as it is.
void tell_of_rotation(const RotateArguments& arguments, const fs::path& old_key, const journal::Rotated& rotated,
                      const journal::RotationWitnesses& witnesses, const secrets::Keyring& new_keys) {
  warn_of_no_witness(arguments.place, witnesses);
  if (rotated.is_older) return warn_of_copy(arguments.place, witnesses.new_key);
  hand_over_witness(arguments, old_key, rotated, new_keys);
}

/// Whether the state opens under these keys.
bool is_under(const secrets::Keyring& keys, const std::string& sealed) {
  try {
    static_cast<void>(journal::open_state(keys, sealed));
    return true;
  } catch (const Failure&) {
    return false;
  }
}

/// Whether both paths lead to one file, or to two that hold the same key.
bool is_same_key(const fs::path& key, const fs::path& new_key, const secrets::Keyring& new_keys) {
  std::error_code unknown;
  if (fs::equivalent(key, new_key, unknown)) return true;
  try {
    return secrets::load_key_file(key).fingerprint() == new_keys.fingerprint();
  } catch (const Failure&) {
    return false;  // it is gone, as after a rotation that was interrupted later than that
  }
}

/// The key file that a rotation has taken out of use.
struct OldKey {
  std::string file;
  std::vector<std::string> others{};  ///< folders that are still under it
};

/// Rotates the key of a folder. Returns the old key; nothing where the present key is the new one, as when a rotation
/// is asked for once more.
std::optional<OldKey> rotate_folder(const RotateArguments& arguments, const secrets::Keyring& new_keys) {
  const fs::path folder = arguments.place;
  const auto disk = journal::posix_disk();
  disk->require_trusted(folder);
  const std::string sealed = journal::read_file_if_any(*disk, folder / journal::folder_files::state);
  if (sealed.empty()) {
    throw Failure(Exit::data, "the folder " + folder.string() + " holds no state; check state.directory");
  }
  const secrets::StateIdentity identity = located(folder.string(), [&] { return secrets::read_identity(sealed); });
  // The state's own identity names the stream: the command has no configuration of a folder.
  const fs::path old_key = secrets::key_file_of(folder, identity.stream, {arguments.old_key, {}});
  const bool is_new = is_same_key(old_key, arguments.new_key, new_keys);
  OldKey old{old_key.string()};
  const auto witness_beside = [&](const fs::path& key_file, const secrets::Keyring& keys) {
    return journal::FolderWitness(settings_beside(arguments, key_file, identity), keys);
  };
  // The state is under the new key already: a crash came before the steps after that were done, or the folder is a
  // copy that was always under this key.
  if (is_under(new_keys, sealed)) {
    journal::RotationWitnesses witnesses{witness_beside(old_key, new_keys),
                                         witness_beside(arguments.new_key, new_keys)};
    const journal::Rotated rotated = journal::finish_rotation(*disk, folder, new_keys, &witnesses);
    tell_of_rotation(arguments, old_key, rotated, witnesses, new_keys);
  } else {
    const secrets::Keyring old_keys =
        with_advice(Exit::permission, "--key-file names the one that the state is sealed under",
                    [&] { return secrets::load_key_file(old_key); });
    journal::RotationWitnesses witnesses{witness_beside(old_key, old_keys),
                                         witness_beside(arguments.new_key, new_keys)};
    const journal::Rotated rotated = journal::rotate_key(*disk, folder, old_keys, new_keys, &witnesses);
    tell_of_rotation(arguments, old_key, rotated, witnesses, new_keys);
    old.others = others_under(old_key, old_keys, rotated.account);
  }
  std::error_code unknown;
  // The link comes last. After a crash before this line it still leads to the old key, whose place the steps above
  // need.
  if (fs::is_symlink(folder / secrets::key_link, unknown)) secrets::link_key_file(folder, arguments.new_key);
  const std::string warning = secrets::warning_of_place(arguments.new_key, folder);
  if (!warning.empty()) fmt::print(stderr, "nustream: warning: {}\n", warning);
  return is_new ? std::nullopt : std::optional(std::move(old));
}

/// Rotates the key of an attached stream. Returns the key file that is no longer needed.
std::string rotate_stream(const RotateArguments& arguments, const secrets::Keyring& new_keys) {
  config::Config config = read_config({arguments.place, {}}, arguments.kafka);
  if (config.kafka.brokers.empty())
    throw Failure(Exit::configuration, config.file + ": kafka.brokers is missing; set it, or name them with -b");
  std::string old_key = arguments.old_key.empty() ? config.state.key_file : arguments.old_key;
  if (old_key.empty())
    throw Failure(Exit::configuration,
                  config.file + ": state.key_file is missing; set it, or name the present key with --key-file");
  // As attach sets it, so that both are checked by the same rules.
  config.kafka.properties.try_emplace("transaction.timeout.ms", std::to_string(config.kafka.transaction.count()));
  kafka::check_properties(config.kafka, config.file);
  static_cast<void>(kafka::rotate_keys({config.kafka.brokers, config.kafka.properties}, config.stream, config.kafka,
                                       secrets::load_key_file(old_key), new_keys));
  return old_key;
}

}  // namespace

Exit key_rotate(const RotateArguments& arguments) {
  secrets::harden_process();
  const secrets::Keyring new_keys = secrets::load_key_file(arguments.new_key);
  std::error_code unknown;  // the function that opens the file reports it
  // A file is the configuration of an attached stream, and a folder is a state folder.
  const bool is_stream = std::filesystem::is_regular_file(arguments.place, unknown);
  const std::optional<OldKey> old_key =
      is_stream ? OldKey{rotate_stream(arguments, new_keys)} : rotate_folder(arguments, new_keys);
  if (arguments.json) {
    print_json(arguments.new_key, new_keys);
    return Exit::done;
  }
  if (old_key && !old_key->others.empty()) {
    fmt::print("{}: sealed under {}; keep {}, which is still the key of {}\n", arguments.place, arguments.new_key,
               old_key->file, fmt::join(old_key->others, ", "));
  } else if (old_key) {
    fmt::print(
        "{}: sealed under {}; {} opens old copies of the state only, and can be destroyed where no other folder or "
        "stream is under it\n",
        arguments.place, arguments.new_key, old_key->file);
  } else {
    fmt::print("{}: was sealed under {} before: keep that key; there is no other one here to destroy\n",
               arguments.place, arguments.new_key);
  }
  if (!is_stream &&
      std::filesystem::is_symlink(std::filesystem::path(arguments.place) / secrets::key_link, unknown)) {
    fmt::print("{}/key leads to {} from now on\n", arguments.place, arguments.new_key);
  } else {
    fmt::print("from now on: state.key_file = \"{}\" in the configuration, --key-file {} with inspect\n",
               arguments.new_key, arguments.new_key);
  }
  return Exit::done;
}

}  // namespace nustream::cli
