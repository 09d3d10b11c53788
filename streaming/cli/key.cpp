#include <memory>

#include <fmt/format.h>

#include "cli/commands.h"
#include "secrets/key_file.h"

namespace nustream::cli {

void add_key(CLI::App& app, Job& job) {
  CLI::App* command = app.add_subcommand("key", "make the key files that wrap states");
  command->require_subcommand(1);
  CLI::App* make = command->add_subcommand("new", "write 32 fresh random bytes to a new file, mode 0600");
  auto file = std::make_shared<std::string>();
  make->add_option("FILE", *file, "the key file; never overwritten")->required();
  make->callback([=, &job] {
    job = [=] {
      secrets::create_key_file(*file);
      fmt::print("{}: a new key; whoever holds it together with a state can open that state's noise\n", *file);
      return Exit::done;
    };
  });
}

}  // namespace nustream::cli
