#include <filesystem>

#include <fmt/format.h>

#include "cli/commands.h"
#include "journal/outbox_folder.h"
#include "journal/rotate_key.h"
#include "secrets/harden.h"
#include "secrets/key_file.h"

namespace nustream::cli {

Exit key_new(const std::string& file) {
  secrets::harden_process();
  secrets::create_key_file(file);
  fmt::print("{}: a new key; whoever holds it together with a state can open that state's noise\n", file);
  return Exit::done;
}

Exit key_rotate(const RotateArguments& arguments) {
  secrets::harden_process();
  const std::filesystem::path folder = arguments.folder;
  const std::string old_key =
      arguments.old_key.empty() ? (folder / journal::folder_files::key).string() : arguments.old_key;
  const auto disk = journal::posix_disk();
  journal::rotate_key(*disk, folder, secrets::load_key_file(old_key), secrets::load_key_file(arguments.new_key));
  fmt::print("{}: sealed under {}; {} opens old copies of the state only and can be destroyed\n", arguments.folder,
             arguments.new_key, old_key);
  return Exit::done;
}

}  // namespace nustream::cli
