// Names the settings that make one settings digest differ from another, for an operator who resumes a state under
// changed settings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/mechanism.h"

namespace nustream::config {

/// What the texts do not tell about the two sets of settings.
struct BesideTexts {
  std::optional<Rho> rho_there{};  ///< rho_limit of the state's epoch, where the caller has its ledger
  std::optional<Rho> rho_here{};
  bool nu_is_set = true;  ///< in the present settings; otherwise ν is the default, which follows from other settings
  bool is_attached = false;           ///< the command is attach, which has no --resume
  bool is_table = false;              ///< the settings are those of a table, whose number of steps is estimate.steps
  std::vector<std::string> chosen{};  ///< the settings that model.estimator = "auto" has chosen
  std::string chosen_by{};  ///< by which settings beside those of the text: "plan.records = 1000, …"; for a message
  std::string horizon = "noise.horizon";  ///< the key from which the noise of a stream has its end
  bool poles_are_set = false;             ///< in the present settings; otherwise their number follows from ν
  std::string intervals{};                ///< intervals.kind of the present settings; empty: as the text tells it
  bool tells_status = false;              ///< release.status is true in the present settings
  std::string correlation{};              ///< noise.correlation as the present settings have it; empty: they do not
  std::string new_epoch = "--new-epoch";  ///< what to type for a new epoch: the whole command, where it is known
};
/// What the texts do not tell about `config`; ρ of the state's epoch is left empty.
[[nodiscard]] BesideTexts beside_texts(const Config& config, const Mechanism& mechanism);

/// One entry for each setting that differs between two texts of settings_text(), in the order of `here`. Each entry
/// has the name that a file of settings has for it, and both values where they are single and short, such as
/// "descent.clip_norm (2 there, 4 here)". A setting that follows from others (σ from a correlation, Δ from a clip
/// norm) is left out where one of those differs. `there` may be any bytes.
[[nodiscard]] std::vector<std::string> differing_settings(std::string_view there, std::string_view here,
                                                          const BesideTexts& beside = {});

/// Does nothing where `digest` is one of `digests`. Otherwise throws Failure(data), which names what differs between
/// the present settings and `text`, the text with the digest `digest`. Where `text` is empty, as in states of earlier
/// versions, the failure names the digests.
void require_same_settings(std::string_view text, const std::string& digest, const EpochDigests& digests,
                           const BesideTexts& beside = {});

}  // namespace nustream::config
