// The keys whose signatures count: the public key that the reader was given, and those to which it was handed on.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "secrets/signature.h"

namespace nustream::verify {

class TrustedKeys {
 public:
  explicit TrustedKeys(const secrets::PublicKey& first) : keys_{first} {}
  [[nodiscard]] bool have_signed(secrets::Signing purpose, std::string_view text,
                                 const secrets::Signature& signature) const {
    const std::string bytes = secrets::to_sign(purpose, text);
    return std::ranges::any_of(keys_, [&](const auto& key) { return secrets::is_signed(bytes, signature, key); });
  }
  void add(const secrets::PublicKey& key) { keys_.push_back(key); }

 private:
  std::vector<secrets::PublicKey> keys_;
};

}  // namespace nustream::verify
