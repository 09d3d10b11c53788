// Predicts from public guesses of the stream how far the solution of running sums will be from the answer. It is the
// counterpart of inference/expected_error.h, so that a plan can choose between the two.
#pragma once

#include "nustream/base/units.h"
#include "nustream/inference/expected_error.h"
#include "nustream/moments/lane.h"

namespace nustream::moments {

/// The expected error after `releases` releases of a linear model under these settings. The guess's distance is that
/// of the first centre.
///
/// In each stage R_r clips some share p of the residuals about the stage's centre; the stage then leaves a part p of
/// the way from its centre to the answer uncovered (`start`). Rows beyond R_x count with s² = (R_x/‖x‖)². The noise
/// of H is multiplied by the distance between the centre and the solution, which includes the solution's own error. A
/// direction below the floor λ is pulled towards the centre.
///
/// Stages share noise (stage_noise.h) and count by their weights. The prediction leaves out that the centres of later
/// stages depend on the noise of earlier ones; otherwise it is right to first order.
///
/// The settings must be of a linear model, and `releases` must be at least one. Throws as inference::check() and
/// StageNoise do.
[[nodiscard]] inference::ExpectedError expected_error(const inference::StreamGuess& guess, const Settings& settings,
                                                      StepCount releases);

}  // namespace nustream::moments
