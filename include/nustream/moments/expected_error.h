// Predicts from public guesses of the stream how far the solution of running sums will be from the answer. It is the
// counterpart of inference/expected_error.h, so that a plan can choose between the two.
#pragma once

#include "nustream/base/units.h"
#include "nustream/inference/expected_error.h"
#include "nustream/moments/lane.h"

namespace nustream::moments {

/// The expected error after so many releases of a linear model under these settings. The guess's distance is that of
/// the first centre.
///
/// For each stage: the share p of residuals about its centre that R_r clips leaves a part p of the way to the centre
/// behind (start). Rows beyond R_x count with s² = (R_x/‖x‖)². The noise of H is multiplied by the distance between
/// the centre and the solution, which includes the solution's own error. A direction below the floor λ is pulled
/// towards the centre.
///
/// Stages share noise (stage_noise.h) and count by their weights. That the centres of later stages depend on the
/// noise of earlier ones is left out; otherwise the prediction is right to first order.
///
/// The settings must be of a linear model, and `releases` must be at least one. Throws as inference::check() and
/// StageNoise do.
[[nodiscard]] inference::ExpectedError expected_error(const inference::StreamGuess& guess, const Settings& settings,
                                                      StepCount releases);

}  // namespace nustream::moments
