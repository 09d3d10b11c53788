// Which settings make one settings digest another: told to whoever resumes a state under settings that changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/mechanism.h"

namespace nustream::config {

/// What the texts do not hold of the two sets of settings.
struct BesideTexts {
  std::optional<double> rho_there{};  ///< rho_limit of the state's epoch, where its ledger is at hand
  std::optional<double> rho_here{};
  bool nu_is_set = true;     ///< here; else it is the default, which follows from other settings
  bool is_attached = false;  ///< the command is attach, which has no --resume
};
/// Of `config`, without the ρ of the state's epoch.
[[nodiscard]] BesideTexts beside_texts(const Config& config, const Mechanism& mechanism);

/// One entry a setting that differs between two texts of settings_text(), in the order of `here`, each by the name
/// that it has in a file of settings, with both values where they are single and short:
/// "descent.clip_norm (2 there, 4 here)". What follows from other settings (σ of a correlation, Δ of a clip norm) is
/// left out where one of those differs. `there` may be any bytes.
[[nodiscard]] std::vector<std::string> differing_settings(std::string_view there, std::string_view here,
                                                          const BesideTexts& beside = {});

/// Nothing where `digest` is one of `digests`. Else Failure(data), naming what differs between `text`, which `digest`
/// is of, and the present settings; where `text` is empty, as in states of earlier versions, the digests.
void require_same_settings(std::string_view text, const std::string& digest, const EpochDigests& digests,
                           const BesideTexts& beside = {});

}  // namespace nustream::config
