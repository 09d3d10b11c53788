// Names the settings that make one settings digest differ from another, for whoever resumes a state under settings
// that changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/mechanism.h"

namespace nustream::config {

/// What the texts do not tell about the two sets of settings.
struct BesideTexts {
  std::optional<Rho> rho_there{};  ///< rho_limit of the state's epoch, where its ledger is at hand
  std::optional<Rho> rho_here{};
  bool nu_is_set = true;     ///< in the present settings; else it is the default, which follows from others
  bool is_attached = false;  ///< the command is attach, which has no --resume
};
/// What the texts do not tell about `config`; ρ of the state's epoch is left empty.
[[nodiscard]] BesideTexts beside_texts(const Config& config, const Mechanism& mechanism);

/// One entry for each setting that differs between two texts of settings_text(), in the order of `here`. Each has the
/// name that it has in a file of settings, and both values where they are single and short, as in "descent.clip_norm
/// (2 there, 4 here)". What follows from other settings (σ of a correlation, Δ of a clip norm) is left out where one
/// of those differs. `there` may be any bytes.
[[nodiscard]] std::vector<std::string> differing_settings(std::string_view there, std::string_view here,
                                                          const BesideTexts& beside = {});

/// Does nothing where `digest` is one of `digests`. Otherwise throws Failure(data), which names what differs between
/// the present settings and `text`, the text that `digest` is of. Where `text` is empty, as in states of earlier
/// versions, it names the digests.
void require_same_settings(std::string_view text, const std::string& digest, const EpochDigests& digests,
                           const BesideTexts& beside = {});

}  // namespace nustream::config
