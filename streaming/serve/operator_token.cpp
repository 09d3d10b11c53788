#include "serve/operator_token.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "secrets/hex.h"
#include "secrets/private_file.h"
#include "secrets/random.h"

namespace nustream::serve {
namespace {

/// Makes the file of a new token; returns false where the file is there already.
bool make_token(const std::filesystem::path& path) {
  std::array<std::uint8_t, 32> bytes;
  secrets::fill_random(bytes);
  const std::string digits = secrets::to_hex(bytes) + '\n';
  return secrets::create_private_file(
      path, std::vector<std::uint8_t>(digits.begin(), digits.end()), "the operator's token file",
      "set serve.operator_token_file to a file that can be made, or to \"none\" for a "
      "loopback listener that asks nobody");
}

}  // namespace

SettledToken settle_operator_token(const config::Serve& settings, const std::string& stream,
                                   const std::filesystem::path& beside) {
  if (settings.operator_address.empty() || settings.operator_token_file == no_token) return {};
  std::filesystem::path path = settings.operator_token_file;
  if (path.empty()) path = beside / (stream + ".operator_token");
  return {path, make_token(path)};
}

}  // namespace nustream::serve
