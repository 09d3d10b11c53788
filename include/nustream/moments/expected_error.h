// How far the solution of running sums will be from the answer, from public guesses of the stream: the counterpart of
// inference/expected_error.h, so that a plan can choose between the two.
#pragma once

#include "nustream/base/units.h"
#include "nustream/inference/expected_error.h"
#include "nustream/moments/lane.h"

namespace nustream::moments {

/// After so many releases of a linear model under these settings; the guess's distance is that of the first centre.
///
/// Of each stage: the share p of residuals about its centre that R_r clips leaves p of the way to the centre behind
/// (start), rows beyond R_x count with s² = (R_x/‖x‖)², and the noise of H meets the distance between centre and
/// solution, whose own error is in that distance too. A direction below the floor λ is pulled to the centre. Stages
/// share noise (stage_noise.h) and count by their weights; that centres of later stages depend on earlier ones' noise
/// is left out. To first order otherwise. Contract: a linear model that was given at least one release. Throws as
/// inference::check() and StageNoise do.
[[nodiscard]] inference::ExpectedError expected_error(const inference::StreamGuess& guess, const Settings& settings,
                                                      StepCount releases);

}  // namespace nustream::moments
