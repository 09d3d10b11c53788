// BLAKE2b-256 without a key, by libsodium, in pieces of any size. The journal hashes files with it as they grow, and
// lines of the ledger, of accounts and of releases as links of their chains.
#include "journal/running_hash.h"

#include "secrets/sodium.h"

namespace nustream::journal {

RunningHash::RunningHash() {
  // libsodium has to be ready, whoever hashes first.
  secrets::prepare_sodium();
  crypto_generichash_init(&state_, nullptr, 0, Hash{}.size());
}

void RunningHash::add(std::string_view bytes) {
  crypto_generichash_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

Hash RunningHash::value() const {
  crypto_generichash_state copy = state_;  // libsodium can add nothing to a state that was finished
  Hash hash{};
  crypto_generichash_final(&copy, hash.data(), hash.size());
  return hash;
}

Hash hash_of(std::string_view bytes) {
  RunningHash hash;
  hash.add(bytes);
  return hash.value();
}

}  // namespace nustream::journal
