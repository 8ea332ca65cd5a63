/** @module-tag long */
import { expect, it } from "vitest";
import { Draws } from "../support/draws.ts";
import { ReadingWorld, type Cut } from "../support/world/reading-world.ts";

const minute = 60_000;
const hour = 60 * minute;

interface History {
  seed: number;
  by: "key" | "place";
  /** The clock of the service is set back and forth. */
  jumps: boolean;
}

/** A list of customers over a time, the readings of it, and what has to hold after each of them. */
class ReadHistory {
  readonly #w: ReadingWorld;
  readonly #draws: Draws;
  readonly #history: History;
  /** Rows that were never removed since they came. */
  readonly #steady = new Set<string>();
  #numbers = 0;
  readonly #story: string[] = [];
  /** What did not hold. */
  readonly wrong: string[] = [];

  constructor(w: ReadingWorld, history: History) {
    this.#w = w;
    this.#draws = new Draws(history.seed);
    this.#history = history;
  }

  async goThrough(steps: number): Promise<void> {
    const w = this.#w;
    w.by = this.#history.by;
    w.fullReadEveryMs = this.#draws.chance(0.8) ? 6 * hour : undefined;
    w.givesDate = this.#draws.chance(0.6);
    // Our clock is wrong by any time; only how long something takes can be relied on.
    w.serviceTime += (this.#draws.below(100) - 50) * hour;
    for (let row = 0; row < 25; row += 1) this.#edit();
    for (let step = 0; step < steps; step += 1) {
      this.#pass();
      for (let edits = this.#draws.below(5); edits > 0; edits -= 1) this.#edit();
      await this.#read();
      this.#nothingWasTakenAway();
    }
    await this.#lastReads();
  }

  /** Time passes on both clocks, or somebody sets one of them. */
  #pass(): void {
    const w = this.#w;
    // Often so little that what is changed next bears the time of what was read last.
    const passed = this.#draws.chance(0.4) ? 0 : this.#draws.below(90) * minute;
    w.time.at += passed;
    w.serviceTime += passed;
    if (this.#draws.chance(0.1)) w.time.at += (this.#draws.below(40) - 20) * hour;
    if (this.#history.jumps && this.#draws.chance(0.15)) w.serviceTime += (this.#draws.below(20) - 10) * hour;
    if (this.#draws.chance(0.06)) w.branch = w.branch === "branch" ? "office" : "branch";
    if (this.#draws.chance(0.06)) w.query = `v${this.#draws.below(100)}`;
  }

  #edit(): void {
    const w = this.#w;
    this.#numbers += 1;
    const ids = [...w.rows.keys()];
    const isNew = ids.length < 15 || this.#draws.chance(0.25);
    const id = isNew ? `C${String(this.#draws.below(9_000)).padStart(4, "0")}` : (this.#draws.one(ids) ?? "C1");
    if (!isNew && this.#draws.chance(0.2)) {
      w.rows.delete(id);
      this.#steady.delete(id);
      return;
    }
    if (!w.rows.has(id)) this.#steady.add(id);
    // What is committed late bears a time before that of others which are there already.
    const late = this.#draws.chance(0.3) ? this.#draws.below(200) * 1_000 : 0;
    const text = String(this.#numbers);
    w.rows.set(id, { branch: `B${text}`, office: `O${text}`, changed: w.serviceTime - late });
  }

  async #read(): Promise<void> {
    const w = this.#w;
    let isEdited = false;
    w.cut = this.#draws.chance(0.35)
      ? { how: this.#draws.one<Cut>(["down", "killed", "stopped"]) ?? "down", after: this.#draws.below(7) }
      : undefined;
    // A list that is read by the place is changed between its readings alone: else nobody could say what it lacks.
    const isMoving = this.#history.by === "key" && this.#draws.chance(0.3);
    w.meanwhile = () => {
      w.serviceTime += 20_000;
      w.time.at += 20_000;
      if (!isMoving || !this.#draws.chance(0.3)) return;
      this.#edit();
      isEdited = true;
    };
    const isPlan = this.#draws.chance(0.2);
    const scope = this.#draws.chance(0.07) ? { source: "crm" } : undefined;
    const tally = await w.read({ isPlan, ...(scope === undefined ? {} : { scope }) });
    w.cut = undefined;
    w.meanwhile = () => {};
    const read = w.lastRead();
    this.#story.push(
      `${isPlan ? "plan" : "run"} ${w.asked[0]?.since ?? "all"} from ${w.asked[0]?.offset} → ${tally?.complete}`,
    );
    // What the source had when it was asked is there, by whole readings and by changes alone.
    const isWholeInOne = tally?.complete === true && read.continues === null && !isEdited;
    if (isWholeInOne && !this.#history.jumps) this.#everyRowIsThere();
  }

  #everyRowIsThere(): void {
    const desired = this.#w.desired();
    for (const [id, branch] of this.#w.listed())
      if (desired.get(id) !== branch) this.#isWrong(`${id} is ${desired.get(id)}, and not ${branch}`);
  }

  #nothingWasTakenAway(): void {
    const absent = new Set(
      this.#w.kept<{ id: string }>("select id from record where state = 'absent'").map(({ id }) => id),
    );
    for (const id of this.#steady) if (absent.has(id)) this.#isWrong(`${id} was taken away`);
    const waiting = this.#w.kept("select id from quarantine where state <> 'resolved'");
    if (waiting.length > 0) this.#isWrong("something waits in quarantine");
  }

  async #lastReads(): Promise<void> {
    const w = this.#w;
    // The first may go on where an earlier one was cut; the second reads everything in one.
    for (const read of [1, 2]) {
      w.time.at += 25 * hour;
      w.serviceTime += 25 * hour;
      const tally = await w.read();
      if (read === 2 && tally?.complete !== true) this.#isWrong("the last reading is not complete");
    }
    this.#everyRowIsThere();
    if (w.desired().size !== w.listed().size) this.#isWrong("what is gone is not taken away");
    if (w.checkpoint() !== undefined) this.#isWrong("a reading that ended is gone on with");
  }

  #isWrong(what: string): void {
    const { seed, by, jumps } = this.#history;
    this.wrong.push(`${what} (seed ${seed}, by ${by}${jumps ? ", jumping" : ""})`, ...this.#story.slice(-12));
  }
}

const seeds = Number(process.env["READ_HISTORIES"] ?? 4);

it.each<Omit<History, "seed">>([
  { by: "key", jumps: false },
  { by: "key", jumps: true },
  { by: "place", jumps: false },
  { by: "place", jumps: true },
])(
  "whatever is edited, cut, mapped otherwise and set, what the source has is there after the last whole reading, and " +
    "nothing was taken away that was there ($by, clock of the service jumps: $jumps)",
  async (kind) => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const w = await ReadingWorld.open(4);
      const history = new ReadHistory(w, { ...kind, seed });
      await history.goThrough(25);
      expect(history.wrong).toEqual([]);
    }
  },
);
