// The keys whose signatures count: the public key that the reader was given, and those to which it was handed on.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "nustream/base/units.h"
#include "secrets/signature.h"

namespace nustream::verify {

/// How far a lane was.
struct LaneProgress {
  EpochId epoch;
  StepCount steps;
  auto operator<=>(const LaneProgress&) const = default;
};

/// The keys in the order in which one was handed on to the next, each with what was spent by then: a key that was
/// handed on signs nothing that comes later.
class TrustedKeys {
 public:
  /// Place of a key among them.
  using Index = std::size_t;

  explicit TrustedKeys(const secrets::PublicKey& first) : keys_{{first, {}}} {}

  [[nodiscard]] Index present() const noexcept { return keys_.size() - 1; }
  [[nodiscard]] const secrets::PublicKey& present_key() const noexcept { return keys_.back().key; }
  /// True where the present key signed `text`; no other key counts here.
  [[nodiscard]] bool present_has_signed(secrets::Signing purpose, std::string_view text,
                                        const secrets::Signature& signature) const {
    return secrets::is_signed(secrets::to_sign(purpose, text), signature, keys_.back().key);
  }
  /// The first key, from `from` on, that signed `text` and may have: a key that was handed on before the lane came to
  /// `at` may not. Nothing where there is none. A key that took its own place again later is there twice, and its
  /// later turn may count where the earlier one does not. `at` is empty for another lane than the ledger's.
  [[nodiscard]] std::optional<Index> signer(secrets::Signing purpose, std::string_view text,
                                            const secrets::Signature& signature, Index from,
                                            const std::optional<LaneProgress>& at) const {
    for (Index i = from; i < keys_.size(); ++i) {
      if (at && keys_[i].handed_on && *at > *keys_[i].handed_on) continue;
      if (secrets::is_signed(secrets::to_sign(purpose, text), signature, keys_[i].key)) return i;
    }
    return std::nullopt;
  }
  /// The present key signed that `next` takes its place. `handed_on`: how far the ledger's lane was by then, or
  /// nothing where it had not begun.
  void hand_on(const secrets::PublicKey& next, const std::optional<LaneProgress>& handed_on) {
    keys_.back().handed_on = handed_on.value_or(LaneProgress{EpochId{0}, StepCount{0}});
    keys_.push_back({next, {}});
  }

 private:
  struct Key {
    secrets::PublicKey key;
    std::optional<LaneProgress> handed_on;  ///< how far the ledger's lane was then; nothing for the present key
  };
  std::vector<Key> keys_;
};

}  // namespace nustream::verify
