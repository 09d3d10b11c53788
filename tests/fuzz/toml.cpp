// Configurations: they give typed settings, or one line that says what is wrong.
#include <functional>
#include <string>
#include <string_view>

#include "config/config.h"
#include "error.h"
#include "fuzz.h"

namespace nustream::fuzz {
namespace {

constexpr std::string_view fitted = "optimised";

/// Whether a number in the settings has three digits or more, so that they may ask for a fit of a hundred steps or
/// bands. A fit takes as long as the settings ask for, so only shorter ones are made here.
bool asks_for_a_long_fit(std::string_view input) {
  std::size_t digits = 0;
  for (const char c : input) {
    digits = (c >= '0' && c <= '9') || (digits > 0 && std::string_view("_eExXoOabcdefABCDEF").find(c) != input.npos)
                 ? digits + 1
                 : 0;
    if (digits > 2) return true;
  }
  return false;
}

/// Takes the request for a fit out of most inputs. Even a short fit takes a thousand times as long as reading the
/// settings that ask for it, and most inputs descend from the few that do: one in 64 of them has its fit made, and
/// the others ask for none.
std::string with_few_fits(std::string_view input) {
  constexpr std::size_t one_in = 64;
  std::string settings(input);
  if (!asks_for_a_long_fit(input) && std::hash<std::string_view>{}(input) % one_in == 0) return settings;
  for (std::size_t at = 0; (at = settings.find(fitted, at)) != settings.npos;) {
    settings.replace(at, fitted.size(), "rational");
  }
  return settings;
}

void target(std::string_view input) {
  if (input.size() > 4096) return;
  try {
    static_cast<void>(config::read_config(file_of(with_few_fits(input)), {}));
  } catch (const Failure& failure) {
    require(failure.code() == Exit::configuration, "bad settings are a failure of the configuration");
    require(std::string_view(failure.what()).find('\n') == std::string_view::npos, "a failure is one line");
  }
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(toml)
