// Configurations: typed settings, or one line that says what is wrong.
#include "config/config.h"
#include "error.h"
#include "fuzz.h"
#include "memory_files.h"

namespace nustream::fuzz {
namespace {

/// A fit takes as long as the settings ask for: only those of fewer than a hundred steps, and bands, are made here.
bool asks_for_a_long_fit(std::string_view input) {
  if (input.find("optimised") == std::string_view::npos) return false;
  std::size_t digits = 0;
  for (const char c : input) {
    digits = (c >= '0' && c <= '9') || (digits > 0 && std::string_view("_eExXoOabcdefABCDEF").find(c) != input.npos)
                 ? digits + 1
                 : 0;
    if (digits > 2) return true;
  }
  return false;
}

void target(std::string_view input) {
  if (input.size() > 4096 || asks_for_a_long_fit(input)) return;
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
