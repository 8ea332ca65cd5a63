import { correctClock, reassign } from "../../src/requests/decisions.ts";
import { exitCodes, Problem } from "../../src/base/errors.ts";
import { TrustedClock } from "../../src/engine/run/trusted-clock.ts";
import { rowsOf } from "../support/world/start.ts";
import { whose, type Life } from "./life.ts";
import { cappedList, isOther, isShown, lacking, lostTable, misread, stale, type Misread } from "./misreads.ts";
import { hour } from "./moves.ts";

/** So long history is kept: longer than any lasts. */
const kept = { rawRecordDays: 1_000, observationDays: 1_000, runDays: 1_000 };

/** What goes wrong with the source and the clock of a history, as far as its moves have it. */
export async function troubles(life: Life): Promise<void> {
  const { draws, moves } = life;
  for (const [name, wrong] of Object.entries(wrongsOf(life)))
    if ([...moves].some((move) => move === name) && draws.chance(0.6)) await readWrong(life, wrong());
  if (moves.has("renamed source") && draws.chance(0.5)) await rename(life);
  if (moves.has("wrong clock") && draws.chance(0.6)) await wrongClock(life);
}

/** What may be wrong with a source for a while, by its move. */
function wrongsOf(life: Life): Record<string, () => Misread> {
  const draws = life.draws;
  const { road } = life.source;
  return {
    misread: () => misread(draws),
    ...(road === "files" && {
      "stale marker": () => stale(draws, (stream) => life.earlier[stream] ?? []),
      "lost table": () => lostTable(draws),
    }),
    ...(road === "lists" && { "capped list": () => cappedList(draws) }),
  };
}

/** What a source that was read whole gives goes wrong, once or twice; then it is right again. */
async function readWrong(life: Life, wrong: Misread): Promise<void> {
  life.services.faultRate = 0;
  if (life.away.isAnythingAway || (await life.oneRun()) === undefined) return;
  await wrongRuns(life, wrong);
  await life.oneRun();
}

async function wrongRuns(life: Life, wrong: Misread): Promise<void> {
  const draws = life.draws;
  life.wrongRead = wrong;
  const { stream, name } = wrong;
  life.note(`misread: ${stream} ${name}`);
  for (let left = draws.whole(1, 2); left > 0; left -= 1) {
    const summary = await life.oneRun(draws.chance(0.2) ? draws.whole(1, 80) : undefined);
    if (summary === undefined) continue;
    const rows = life.rows(stream);
    const shown = isShown(wrong, rows.length);
    if (summary.exitCode === 0 && (shown || (wrong.isTold && isOther(wrong, rows))))
      life.wrong.push(`${stream} ${name}: the run says that all is well`);
    const [read] = rowsOf<{ complete: number }>(
      life.path,
      `select complete from source_read where stream = '${stream}' order by number desc limit 1`,
    );
    if (shown && read?.complete !== 0) life.wrong.push(`${stream} ${name}: the read counts as complete`);
  }
  life.wrongRead = undefined;
}

/** The source is called otherwise and lacks rows at first; then it is whole, and may be given what the other left. */
async function rename(life: Life): Promise<void> {
  const draws = life.draws;
  life.services.faultRate = 0;
  if (life.away.isAnythingAway || (draws.chance(0.5) && (await life.oneRun()) === undefined)) return;
  life.stop();
  life.sourceName = life.sourceName === "crm" ? "people" : "crm";
  life.note(`the source is called ${life.sourceName}`);
  if (draws.chance(0.7)) await wrongRuns(life, lacking(draws));
  await life.oneRun();
  if (draws.chance(0.5)) await giveRest(life);
}

/** A person gives the source what is left of the one that it was. */
export async function giveRest(life: Life): Promise<void> {
  const engine = await life.program(undefined);
  const to = life.sourceName;
  const place = {
    existingLedger: () => Promise.resolve(engine.ledger),
    sources: () => [life.source.named(to)],
    jobs: () => [],
  };
  try {
    await engine.wait(reassign(place, { from: to === "crm" ? "people" : "crm", to }, whose));
    life.note(`reassigned to ${to}`);
  } catch (error) {
    // Nothing was left.
    if (!(error instanceof Problem) || error.exitCode !== exitCodes.usage) throw error;
  }
}

/**
 * The clock of this machine is wrong at several jobs, while some rows are missing for less than the time after which
 * they are gone; then it is right again, and a person corrects what it wrote.
 */
async function wrongClock(life: Life): Promise<void> {
  const draws = life.draws;
  life.services.faultRate = 0;
  life.services.down = undefined;
  if (life.away.isAnythingAway || (await life.oneRun()) === undefined) return;
  life.services.faultRate = draws.pick([0, 0.1, 0.3]) ?? 0;
  life.wrongRead = lacking(draws);
  for (let left = draws.whole(1, 4); left > 0; left -= 1) {
    if (draws.chance(0.5)) life.edit();
    life.jumpsAfter = draws.chance(0.5) ? draws.whole(1, 12) : 0;
    if (life.jumpsAfter === 0) life.jump();
    await job(life);
    life.jumpsAfter = 0;
    if (draws.chance(0.5)) await life.timeline.pass(draws.whole(0, 3 * hour));
  }
  life.ahead = 0;
  life.services.faultRate = 0;
  life.note("the clock is right");
  if (draws.chance(0.5)) await job(life);
  life.wrongRead = undefined;
  const engine = await life.program(undefined);
  const place = {
    requireLedger: () => {},
    requirePlatform: () => Promise.resolve(),
    ledger: () => Promise.resolve(engine.ledger),
    runDependencies: () => Promise.resolve(engine.deps),
  };
  const { rows } = await engine.wait(correctClock(place, whose));
  life.note(`a person corrected ${rows} rows`);
  await life.oneRun();
}

/** A run, a verification or a thinning of history, which finds nothing that is old enough. */
async function job(life: Life): Promise<void> {
  const draws = life.draws;
  const job = draws.pick(["run", "run", "verify", "thin"]);
  if (job === "run") await life.oneRun(draws.chance(0.2) ? draws.whole(1, 80) : undefined);
  else if (job === "verify") await life.readBack();
  else {
    const engine = await life.program(undefined);
    const time = await engine.wait(new TrustedClock(engine.deps).now({ isFresh: false }));
    if (time === undefined) return;
    const thinned = await engine.wait(engine.ledger.runs.thinHistory(time, kept, () => false));
    if (Object.keys(thinned).length > 0) life.wrong.push(`thinned: ${JSON.stringify(thinned)}`);
  }
}
