#include "bugs.h"

#include <array>

namespace nustream::tests {
namespace {

using enum Catch;

constexpr std::array bugs{
    PlantedBug{"open-quote-swallows-the-next-row", "a quotation mark left open takes the next record with it",
               by_test, "decode_test", "Csv.AnOpenQuoteSpoilsItsLineOnly"},
    PlantedBug{"watermark-makes-records-late", "a record counts only if none before it is newer", by_test,
               "decode_test", "Reader.EventTimesArriveBesideTheRowsAndDecideNothing"},
    PlantedBug{"private-first-stage-is-not-clipped",
               "a first stage without clipping and noise where nothing is declared public", by_test,
               "instruments_test", "Instruments.RefusesWhatIsNotDeclared"},
    PlantedBug{"tables-are-zero-out", "a table's records move its mean by 1/n, not 2/n", by_test, "estimate_test",
               "Estimate.AddsTheNoiseOfThePaper"},
    PlantedBug{"table-is-read-once", "T steps over a whole table cost what one costs", by_test, "estimate_test",
               "Estimate.AddsTheNoiseOfThePaper"},
    PlantedBug{"each-run-spends-the-budget", "of m runs over a table each is calibrated for all of ρ", by_test,
               "estimate_test", "Estimate.IntervalsByRunsShareTheBudget"},
    PlantedBug{"table-counts-usable-records", "a table's mean is over its usable records", by_test, "estimate_test",
               "Estimate.DividesByTheNumberOfRecordsUsableOrNot"},
    PlantedBug{"passes-are-not-counted", "k = 1 where a stream is read k times", by_test, "replay_resume_test",
               "Passes.*"},
    PlantedBug{"sigma-of-another-correlation", "σ by the γ of independent noise", by_test, "config_test",
               "Mechanism.*"},
    PlantedBug{"replace-one-in-the-plan-alone", "2G is planned, printed and charged; the noise is that of G",
               by_audit, "", "privacy.rho=2 privacy.adjacency=replace-one --runs 6000"},
    PlantedBug{"noise-divided-by-n", "the noise of a minibatch's sum is divided by its size once more", by_audit, "",
               "privacy.rho=2 descent.minibatch=3 --runs 6000"},
    PlantedBug{"each-stage-spends-the-budget", "every stage is calibrated for all of ρ", by_test, "config_test",
               "Mechanism.*"},
    PlantedBug{"moments-are-not-charged", "the second moments of intervals cost nothing", by_test, "config_test",
               "Mechanism.*"},
    PlantedBug{"moments-without-noise", "second moments get a thousandth of their noise", by_audit, "sandwich",
               "intervals.share=0.05 privacy.rho=0.5 --runs 6000"},
    PlantedBug{"digest-without-the-noise", "a resume with another correlation or σ is the same run", by_test,
               "config_test", "SettingsDigest.ChangesWithEverythingThatChangesAnIterateOrItsCost"},
    PlantedBug{"replace-one-moves-g", "Δ = G under replace-one", by_audit, "",
               "privacy.rho=2 privacy.adjacency=replace-one --runs 6000"},
    PlantedBug{"sigma-from-squared-gamma", "σ by γ² in place of γ", by_test, "privacy_unit_test", "Zcdp.*"},
    PlantedBug{"sigma-without-the-root", "σ = γ/2ρ in place of γ/√(2ρ)", by_test, "privacy_unit_test", "Zcdp.*"},
    PlantedBug{"rho-of-gamma-not-squared", "ρ = γ/2σ² in place of γ²/2σ²", by_audit, "",
               "privacy.rho=2 noise.nu=0.01 --runs 20000"},
    PlantedBug{"gamma-of-b", "β and c swapped: the sensitivity of B in place of C's", by_audit, "",
               "privacy.rho=2 --runs 6000"},
    PlantedBug{"gamma-of-one-exponential-sum", "c of a rational correlation as one sum of exponentials from t = 0",
               by_audit, "", "privacy.rho=2 --runs 6000"},
    PlantedBug{"gamma-of-one-participation", "γ_t where a record takes part k > 1 times", by_audit, "",
               "privacy.rho=2 --passes 2 --runs 6000"},
    PlantedBug{"gamma-of-the-exact-series", "a window's γ is taken for the exact series'", by_test,
               "privacy_unit_test", "Sensitivity.AccountsForTheWindowNotForTheExactSeries"},
    PlantedBug{"tree-without-its-root", "a record is in one node fewer than a tree has levels", by_audit, "",
               "privacy.rho=2 noise.correlation=tree noise.height=3 --runs 6000"},
    PlantedBug{"composition-takes-the-largest", "stages and epochs over the same records cost the dearest of them",
               by_test, "privacy_unit_test", "Zcdp.CompositionAddsUpwardAndParallelTakesTheLargest"},
    PlantedBug{"epsilon-of-the-root-of-rho", "μ = √ρ in place of √(2ρ) in ε(δ)", by_test, "privacy_golden_test",
               "EpsilonReference.*"},
    PlantedBug{"renyi-order-off-by-one", "ρ(α − 1) for ρα in the bound of Rényi divergences", by_test,
               "privacy_golden_test", "EpsilonReference.*"},
    PlantedBug{"restated-as-it-is", "a zero-out spend under a replace-one claim, but not fourfold", by_test,
               "privacy_unit_test", "Ledger.*"},
    PlantedBug{"overlap-is-taken-for-disjoint", "epochs over the same records cost the largest, not the sum", by_test,
               "privacy_unit_test", "Ledger.*"},
    PlantedBug{"noise-by-c", "β and c swapped: the noise is generated by C", by_test,
               "noise_generators_property_test", "EveryGenerator.EqualsTheDenseMatrix"},
    PlantedBug{"lanes-share-a-key", "the noise of lane 0 in every lane", by_test, "noise_key_test", "KeyChain.*"},
    PlantedBug{"stages-share-a-key", "two stages of one model draw the same noise", by_test, "noise_key_test",
               "KeyChain.*"},
    PlantedBug{"blocks-share-a-key", "the ratchet stands still: every block draws the same noise", by_test,
               "noise_key_test", "KeyChain.*"},
    PlantedBug{"old-keys-are-kept", "keys of blocks that are done stay in memory", by_test, "noise_key_test",
               "KeyRing.LeavesNoForgottenKeyInMemory"},
    PlantedBug{"words-of-32-bits", "a normal sample of 32 random bits, whose tails end at 6.7 σ", by_test,
               "noise_gaussian_test", "SeedNoise.*"},
    PlantedBug{"counter-restarts-with-each-call", "the counter of a block begins anew with each call", by_test,
               "noise_source_property_test", "SeedNoiseProperty.*:NoiseSourceProperty.*"},
    PlantedBug{"horizon-is-passed", "noise beyond the steps that a finite correlation is calibrated for", by_test,
               "noise_generators_property_test", "NoiseSourceRestart.EndsAtTheHorizon"},
    PlantedBug{"segments-without-fresh-bytes", "segments begin, but with the key that the old copy has as well",
               by_test, "noise_healing_test", "Healing.OfTwoRunsFromOneCopySharesNoNoise"},
    PlantedBug{"salt-in-place-of-the-key", "a segment's key is its fresh bytes alone: who sees those has it", by_test,
               "noise_healing_test", "Healing.GivesTheGoldenVectors"},
    PlantedBug{"resume-keeps-the-old-segment", "a restored copy that is resumed goes on with the same noise", by_test,
               "noise_healing_test", "Healing.OfTwoRunsFromOneCopySharesNoNoise"},
    PlantedBug{"window-reads-under-the-newest-key-alone",
               "a state keeps one key, under which a window reads its older noise as well", by_test,
               "noise_healing_test", "Healing.KeepsTheCorrelationOverAnyRestarts"},
    PlantedBug{"clip-rounds-outward", "a clipped gradient is rounded to the nearest multiple of the grid", by_test,
               "descent_test", "Clip.*"},
    PlantedBug{"norm-overflows", "‖g‖² by plain squares, which overflow and vanish", by_test, "descent_test",
               "Clip.*"},
    PlantedBug{"noise-without-grid", "the gradient is added to the noise as a floating-point number", by_test,
               "lane_test", "LaneNeighbours.*"},
    PlantedBug{"noise-is-left-out", "a step is taken without its noise", by_test, "descent_test", "*EveryStep.*"},
    PlantedBug{"bad-record-takes-no-step", "a record that cannot be used is skipped", by_test, "lane_test",
               "Lane.ABadRecordsStepStillAddsNoise"},
    PlantedBug{"clip-after-the-noise", "gradient and noise are clipped together", by_test, "lane_test",
               "LaneNeighbours.*"},
    PlantedBug{"clip-of-the-mean", "the records of a minibatch share one clip norm", by_test, "lane_test",
               "LaneNeighbours.*"},
    PlantedBug{"regulariser-inside-the-clip", "∇r is clipped with the gradient: of the mean θ − x, not x", by_test,
               "lane_test", "Lane.AgreesWithATwinThatReadsAsTheEquation"},
    PlantedBug{"minibatch-by-the-observed-count", "a step is divided by the number of usable records", by_test,
               "lane_test", "Lane.DividesByTheNominalMinibatch"},
    PlantedBug{"first-stage-clipped-as-the-second", "the first stage clips to the second stage's norm", by_test,
               "lane_stages_test", "TwoStageLoop.*:LaneStages.*:Trajectory.*"},
    PlantedBug{"histograms-move-by-one", "a record moves m histograms together by 1, not √m", by_test, "ranges_test",
               "Displacement.*"},
    PlantedBug{"a-moved-count-counts-once", "a count that moves to another bin is one change, not two", by_test,
               "ranges_test", "Displacement.*"},
    PlantedBug{"counts-without-noise", "ranges are chosen from exact counts", by_test, "ranges_test",
               "NoisyCounts.*"},
    PlantedBug{"parts-share-records", "the second part of a fit is over the same rows, at the whole ρ again", by_test,
               "ranges_test", "Dealer.*:LinearFit.IsUnchanged*"},
    PlantedBug{"fit-stages-share-a-key", "every release of a fit draws the same noise", by_test, "ranges_test",
               "KeyedNoise.*"},
    PlantedBug{"fits-cost-the-dearest", "fits over one file cost the dearest of them, not the sum", by_test,
               "fit_test", "Fit.AddsUpOverOneFile"},
    PlantedBug{"local-bound-is-not-enforced", "‖x‖₁ ≤ r is assumed and not enforced", by_test, "local_inference_test",
               "LocalProjection.*"},
    PlantedBug{"local-records-differ-by-one-norm", "two records' moments differ by one record's norm, ℓ1 or ℓ2",
               by_test, "local_inference_test", "LocalDisplacement.*"},
    PlantedBug{"local-parts-spend-the-budget-each", "both parts of a report are calibrated for all of it",
               by_contract, "local_inference_test",
               "LocalMechanism.ReportsTheUpperTriangleRowByRowThenTheCrossMoments"},
    PlantedBug{"local-delta-is-not-split", "the paper's constant with ln(1.25/δ) for two releases", by_test,
               "local_inference_test", "LocalNoise.ThePapersConstants"},
    PlantedBug{"local-retry-draws-again", "a record that is sent again has a second report", by_test,
               "local_command_test", "Local.ARetrySendsTheSameBytes"},
    PlantedBug{"resume-restarts-the-noise", "a resumed run begins its block's noise again", by_test,
               "replay_resume_test", "Resume.InTwoHalvesGivesTheReleasesOfOneRun"},
    PlantedBug{"resume-restarts-the-spend", "the ledger of a resumed run counts its own steps alone", by_test,
               "replay_resume_test", "Resume.SpendsWhatOneRunWouldHaveSpent"},
    PlantedBug{"spend-forgets-earlier-epochs", "what earlier epochs spent is not carried over", by_test,
               "replay_resume_test", "NewEpoch.OverRecordsReadBeforeIsChargedAsTheSum:Budget.*"},
    PlantedBug{"epoch-goes-on-from-the-state", "a new epoch goes on from an iterate that was never published",
               by_test, "replay_resume_test", "GoingOn.NothingIsTakenFromAnIterateThatWasNotReleased"},
    PlantedBug{"budget-is-crossed-by-a-step", "a cap on the budget stops one step late", by_test,
               "replay_resume_test", "Budget.*"},
    PlantedBug{"randomness-falls-back", "another generator where getrandom fails", by_test, "key_source_test",
               "KeySource.ThatFailsIs77AndNothingIsReleased"},
    PlantedBug{"low-entropy-seed", "keys of 32 bits of entropy", by_test, "key_source_test",
               "KeySource.TheEpochsKeyIsExactlyWhatItHandedOut"},
    PlantedBug{"epoch-key-of-zeros", "the noise key of an epoch is 32 zero bytes", by_test, "key_source_test",
               "KeySource.TheEpochsKeyIsExactlyWhatItHandedOut"},
    PlantedBug{"epoch-key-of-the-key-file", "every epoch under one key file draws the same noise", by_test,
               "secrets_unit_test", "Keyring.DrawsFreshEpochKeysButForASeed"},
    PlantedBug{"fresh-bytes-are-repeated", "every segment mixes in the same bytes", by_test, "replay_healing_test",
               "Restored.BackupDrawsOtherNoiseFromItsNextStepOn"},
    PlantedBug{"zero-key-file-is-taken", "a key file of 32 zero bytes", by_test, "secrets_unit_test",
               "KeyFile.IsNotAllZero"},
    PlantedBug{"state-is-not-sealed", "the state is written in the clear, and read without a check", by_test,
               "secrets_unit_test", "Seal.*"},
    PlantedBug{"nonce-is-used-again", "every state is sealed under the same nonce", by_test, "secrets_unit_test",
               "Seal.DrawsAFreshNonceEveryTime"},
    PlantedBug{"insecure-state-becomes-private", "a run under an insecure seed is resumed as a private one", by_test,
               "secrets_unit_test", "Seal.NeverResumesAnInsecureStateAsPrivate"},
    PlantedBug{"release-before-its-state", "releases are appended before the state that holds them is durable",
               by_test, "journal_crash_test", "JournalCrash.*"},
    PlantedBug{"rolled-back-state-is-taken", "a state older than the releases beside it goes on", by_test,
               "journal_unit_test", "FileJournal.RefusesAStateThatWasRolledBack"},
    PlantedBug{"rejects-stop-the-releases",
               "a record that cannot be used ends the run where rejects cannot be written", by_test,
               "replay_resume_test", "Rejects.*"},
    PlantedBug{"release-in-its-own-transaction", "a batch's releases leave in the transaction of its own state",
               on_a_broker, "attach_planted_test",
               "PlantedRelease.AndTheServiceAsItIsShowsNothingOfABatchThatDidNotCommit"},
    PlantedBug{"limit-shown-as-the-spend", "every release shows the limit as what is spent", by_test, "publish_test",
               "ReleaseJson.*"},
    PlantedBug{"spend-shown-as-the-limit", "every release shows what is spent as the limit", by_test, "publish_test",
               "ReleaseJson.*"},
    PlantedBug{"spend-lags-a-step", "a release shows the spend of the step before", by_test, "publish_test",
               "ReleaseJson.*"},
    PlantedBug{"public-listener-shows-the-operators-page", "rejects, lag and durations on the public listener",
               by_test, "serve_listener_test", "PublicListener.SaysTheSameWhateverTheOperatorSees"},
    PlantedBug{"public-steps-leave-out-rejects", "the public number of steps counts usable records", on_a_broker,
               "attach_neighbours_test", "*"},
    PlantedBug{"public-counter-counts-rejects", "the public number of steps counts each reject beside its step",
               by_test, "simulation_test", "Simulation.*"},
    PlantedBug{"page-is-ahead-of-its-state", "a service's public page shows a batch's releases when it is sent",
               by_contract, "simulation_test", "Simulation.*"},
    PlantedBug{"printed-ahead-of-its-state", "a replay prints a batch's releases when it is sent", by_test,
               "simulation_test", "Simulation.*"},
};

constexpr std::array further{
    PlantedBug{"open-quote-swallows-the-next-row", "", by_test, "simulation_test", "Simulation.*"},
    PlantedBug{"public-steps-leave-out-rejects", "", by_test, "coupling_test", "*FaultsOfTheBroker"},
    PlantedBug{"public-counter-counts-rejects", "", by_test, "coupling_test", "*FaultsOfTheBroker"},
    PlantedBug{"clip-after-the-noise", "", by_test, "coupling_test", "*NoMoreThanTheClaimedCost"},
    PlantedBug{"gamma-of-b", "", by_test, "coupling_test", "*NoMoreThanTheClaimedCost"},
    PlantedBug{"gamma-of-one-participation", "", by_test, "coupling_test", "*NoMoreThanTheClaimedCost"},
    PlantedBug{"replace-one-moves-g", "", by_test, "coupling_test", "*NoMoreThanTheClaimedCost"},
    PlantedBug{"bad-record-takes-no-step", "", by_test, "coupling_test", "*NoMoreThanTheClaimedCost"},
    PlantedBug{"each-stage-spends-the-budget", "", by_test, "coupling_test", "*NoMoreThanTheClaimedCost"},
    PlantedBug{"moments-are-not-charged", "", by_test, "coupling_test", "*NoMoreThanTheClaimedCost"},
    PlantedBug{"moments-without-noise", "", by_test, "coupling_test", "*NoMoreThanTheClaimedCost"},
    PlantedBug{"sigma-of-another-correlation", "", by_test, "coupling_test", "*NoMoreThanTheClaimedCost"},
    PlantedBug{"replace-one-in-the-plan-alone", "", by_test, "coupling_test", "*NoMoreThanTheClaimedCost"},
    PlantedBug{"noise-divided-by-n", "", by_test, "coupling_test", "*NoMoreThanTheClaimedCost"},
    PlantedBug{"rho-of-gamma-not-squared", "", by_test, "coupling_test", "*NoMoreThanTheClaimedCost"},
    PlantedBug{"gamma-of-the-exact-series", "", by_test, "coupling_test", "*NoMoreThanTheClaimedCost"},
    PlantedBug{"tree-without-its-root", "", by_test, "coupling_test", "*NoMoreThanTheClaimedCost"},
    PlantedBug{"composition-takes-the-largest", "", by_test, "coupling_test", "*NoMoreThanTheClaimedCost"},
    PlantedBug{"lanes-share-a-key", "", by_test, "residual_test",
               "Of/Residuals.OfAKnownStreamAreIndependentNormalOfTheClaimedSize/0"},
    PlantedBug{"moments-without-noise", "", by_audit, "sandwich",
               "privacy.rho=2 privacy.adjacency=replace-one --runs 6000"},
    PlantedBug{"moments-are-not-charged", "", by_audit, "sandwich", "privacy.rho=2 --runs 6000"},
    PlantedBug{"stages-share-a-key", "", by_audit, "sandwich", "privacy.rho=2 --runs 6000"},
    PlantedBug{"each-stage-spends-the-budget", "", by_audit, "sandwich", "privacy.rho=2 --runs 6000"},
    PlantedBug{"each-run-spends-the-budget", "", by_audit, "runs", "privacy.rho=2 --runs 6000"},
    PlantedBug{"stages-share-a-key", "", by_audit, "instruments", "privacy.rho=2 --runs 6000"},
    PlantedBug{"composition-takes-the-largest", "", by_audit, "instruments", "privacy.rho=2 --runs 6000"},
    PlantedBug{"noise-divided-by-n", "", by_audit, "instruments", "privacy.rho=2 descent.minibatch=3 --runs 6000"},
    PlantedBug{"first-stage-clipped-as-the-second", "", by_audit, "instruments",
               "privacy.rho=2 first_stage.share=0.3 --runs 20000"},
    PlantedBug{"blocks-share-a-key", "", by_test, "residual_test", "*CommandResiduals.*"},
    PlantedBug{"minibatch-by-the-observed-count", "", by_test, "simulation_test", "Simulation.*"},
    PlantedBug{"resume-restarts-the-noise", "", by_test, "simulation_test", "Simulation.*"},
    PlantedBug{"release-before-its-state", "", by_test, "simulation_test", "Simulation.*"},
    PlantedBug{"rejects-stop-the-releases", "", by_test, "simulation_test", "Simulation.*"},
    PlantedBug{"release-in-its-own-transaction", "", by_test, "simulation_test", "Simulation.*"},
};

std::string caught_by(const PlantedBug& bug) {
  const std::string by(bug.by);
  switch (bug.caught) {
    case Catch::by_audit:
      return "`nustream audit`, exit code 70, with `" + by + '`' +
             (bug.program.empty()     ? ""
              : bug.program == "runs" ? ", of a table with intervals by runs"
                                      : ", of a model with " + std::string(bug.program) +
                                            (bug.program == "sandwich" ? " intervals" : ""));
    case Catch::by_contract:
      return "the program itself, which ends by a contract, in `" + std::string(bug.program) + "` `" + by + "`";
    case Catch::on_a_broker:
      return "`" + std::string(bug.program) + "` `" + by + "`, on a broker";
    case Catch::by_test:
      break;
  }
  return "`" + std::string(bug.program) + "` `" + by + "`";
}

}  // namespace

std::span<const PlantedBug> planted_bugs() {
  return bugs;
}

std::span<const PlantedBug> further_catchers() {
  return further;
}

std::string table_of_bugs() {
  std::string table = "| bug | what the program would do | caught by |\n|---|---|---|\n";
  for (const PlantedBug& bug : bugs) {
    table.append("| `").append(bug.name).append("` | ").append(bug.is).append(" | ").append(caught_by(bug));
    for (const PlantedBug& another : further) {
      if (another.name == bug.name) table.append("; ").append(caught_by(another));
    }
    table.append(" |\n");
  }
  return table;
}

}  // namespace nustream::tests
