#include "cli/app.h"

#include <cstdio>
#include <exception>
#include <new>

#include <fmt/format.h>

#include "cli/commands.h"
#include "nustream/base/error.h"
#include "version.h"

namespace nustream::cli {
namespace {

int fail(Exit code, const std::string& line) {
  fmt::print(stderr, "nustream: error: {}\n", line);
  return static_cast<int>(code);
}

int run_job(const Job& job) {
  try {
    return static_cast<int>(job());
  } catch (const Failure& failure) {
    return fail(failure.code(), failure.what());
  } catch (const InvalidParameter& error) {
    return fail(Exit::configuration, error.what());
  } catch (const Unsupported& error) {
    return fail(Exit::configuration, error.what());
  } catch (const std::bad_alloc&) {
    return fail(Exit::internal, "out of memory; give the process more, or lower state.commit_records");
  } catch (const std::exception& error) {
    return fail(Exit::internal, std::string(error.what()) + "; please report this with the command line");
  }
}

}  // namespace

void add_config_arguments(CLI::App& command, ConfigArguments& arguments) {
  command.add_option("CONFIG", arguments.file, "configuration file (TOML)")->required();
  command.add_option("--set", arguments.overrides, "override a setting: --set section.key=value (repeatable)")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->take_all();
}

int run(int argc, char** argv) {
  CLI::App app{"nustream: streaming estimates with differential privacy under continual release"};
  app.set_version_flag("--version", std::string("nustream ") + version);
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("nustream: error: {}; see nustream --help\n", error.what());
  });
  Job job;
  add_plan(app, job);
  add_replay(app, job);
  add_check(app, job);
  add_inspect(app, job);
  add_key(app, job);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return static_cast<int>(Exit::usage);
  }
  return run_job(job);
}

}  // namespace nustream::cli
