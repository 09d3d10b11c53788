// Configurations: typed settings, or one line that says what is wrong.
#include "config/config.h"
#include "error.h"
#include "fuzz.h"
#include "memory_files.h"

namespace nustream::fuzz {
namespace {

void target(std::string_view input) {
  // A fit takes as long as the settings ask for.
  if (input.find("optimised") != std::string_view::npos || input.size() > 4096) return;
  try {
    static_cast<void>(config::read_config(file_of(input), {}));
  } catch (const Failure& failure) {
    require(failure.code() == Exit::configuration, "bad settings are a failure of the configuration");
    require(std::string_view(failure.what()).find('\n') == std::string_view::npos, "a failure is one line");
  }
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(toml)
