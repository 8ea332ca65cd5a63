import { Draws } from "../support/draws.ts";
import { MovingCrm, type CrmCustomer, type Road } from "../support/world/moving-crm.ts";
import { ReadingWorld, type Cut } from "../support/world/reading-world.ts";
import { believesAll } from "../support/world/acceptances.ts";

const minute = 60_000;
const hour = 60 * minute;

/** What came to pass in a history, for counting. */
export interface Lived {
  wrong: string[];
  readings: number;
  complete: number;
  /** Readings that were cut and gone on with. */
  resumed: number;
  kills: number;
  /** Readings of changes alone. */
  changesOnly: number;
}

/** One change of the list while it is read or between its readings. */
interface Touch {
  id: string;
  isRemoved: boolean;
}

/**
 * Customers of a real service or database who are inserted, edited, moved, spoiled and removed at any time, and runs
 * that read them, are cut and killed. After each reading it looks at what has to hold.
 */
export class RealHistory {
  readonly #w: ReadingWorld;
  readonly #crm: MovingCrm;
  readonly #draws: Draws;
  readonly #touched: Touch[] = [];
  /** Where each reading began: how many touches there were, and who was in the list. */
  readonly #begun = new Map<number, { touches: number; there: ReadonlySet<string> }>();
  readonly #removed: string[] = [];
  readonly #story: string[] = [];
  readonly #seed: number;
  #numbers = 0;
  readonly lived: Lived = { wrong: [], readings: 0, complete: 0, resumed: 0, kills: 0, changesOnly: 0 };

  private constructor(w: ReadingWorld, crm: MovingCrm, seed: number) {
    this.#w = w;
    this.#crm = crm;
    this.#seed = seed;
    this.#draws = new Draws(seed);
  }

  static async live(road: Road, seed: number, steps: number): Promise<Lived> {
    const crm = await MovingCrm.start(road, () => w);
    const w: ReadingWorld = await ReadingWorld.open(0, (world) => crm.source(world));
    const history = new RealHistory(w, crm, seed);
    await history.#goThrough(steps);
    return history.lived;
  }

  async #goThrough(steps: number): Promise<void> {
    const w = this.#w;
    w.accepts = believesAll("crm").filter(({ guard }) => guard === "ids" || guard === "changes");
    w.fullReadEveryMs = this.#draws.chance(0.7) ? 6 * hour : undefined;
    w.givesDate = this.#draws.chance(0.6);
    this.#crm.saysTotal = this.#draws.chance(0.3);
    // A database is asked for its own clock; a service has one that is wrong by any time.
    if (this.#crm.road !== "sql") w.serviceTime += (this.#draws.below(100) - 50) * hour;
    for (let row = 0; row < 14; row += 1) this.#insert();
    for (let step = 0; step < steps; step += 1) {
      this.#pass();
      for (let edits = this.#draws.below(5); edits > 0; edits -= 1) this.#edit(true);
      await this.#read();
    }
    await this.#lastReads();
  }

  #pass(): void {
    const w = this.#w;
    const passed = this.#draws.chance(0.4) ? 0 : this.#draws.below(90) * minute;
    w.time.at += passed;
    w.serviceTime += passed;
    if (this.#draws.chance(0.1)) w.time.at += (this.#draws.below(40) - 20) * hour;
    if (this.#draws.chance(0.05)) w.branch = w.branch === "branch" ? "office" : "branch";
    if (this.#draws.chance(0.05)) w.query = `v${this.#draws.below(100)}`;
  }

  #edit(isBetween: boolean): void {
    const { list } = this.#crm;
    const what = this.#draws.below(10);
    const at = this.#draws.below(Math.max(1, list.length));
    if (what < 3 || list.length < 8) {
      // Who was removed may come back, but not while somebody reads: a record that flickers is there or not by chance.
      if (isBetween && this.#draws.chance(0.3) && this.#removed.length > 0) this.#insert(this.#removed.pop());
      else this.#insert();
    } else if (what < 5) {
      const [gone] = list.splice(at, 1);
      if (gone === undefined) return;
      if (isBetween) this.#removed.push(gone.id);
      this.#touched.push({ id: gone.id, isRemoved: true });
    } else {
      const [one] = list.splice(at, 1);
      if (one === undefined) return;
      // An edited record may come to the front or to the end.
      const comesTo = what < 8 ? at : this.#draws.below(2) * list.length;
      const edited = this.#customer(one.id);
      list.splice(comesTo, 0, edited);
      this.#touched.push({ id: one.id, isRemoved: false });
    }
  }

  #insert(id?: string): void {
    this.#numbers += 1;
    const { list } = this.#crm;
    const name = id ?? `C${(this.#numbers * 37) % 101}-${this.#numbers}`;
    list.splice(this.#draws.below(list.length + 1), 0, this.#customer(name));
    this.#touched.push({ id: name, isRemoved: false });
  }

  #customer(id: string): CrmCustomer {
    this.#numbers += 1;
    // What is committed late bears a time before that of others which are there already.
    const late = this.#draws.chance(0.3) ? this.#draws.below(200) * 1_000 : 0;
    const branch = this.#draws.chance(0.08) ? null : `B${this.#numbers}`;
    return { id, branch, changed: this.#w.serviceTime - late };
  }

  async #read(): Promise<void> {
    const w = this.#w;
    const isSql = this.#crm.road === "sql";
    w.cut = this.#draws.chance(0.35)
      ? {
          how: this.#draws.one<Cut>(isSql ? ["killed", "stopped"] : ["down", "killed", "stopped"]) ?? "killed",
          after: this.#draws.below(8),
        }
      : undefined;
    const willBeKilled = w.cut?.how === "killed";
    this.#crm.troubles = this.#draws.chance(0.2) ? ["breaks off", "busy"] : [];
    const moves = this.#draws.chance(0.5) ? this.#draws.below(100) / 100 : 0;
    w.meanwhile = () => {
      w.serviceTime += 20_000;
      w.time.at += 20_000;
      if (!this.#draws.chance(moves)) return;
      this.#edit(false);
      this.#crm.save();
    };
    this.#crm.save();
    const isPlan = this.#draws.chance(0.2);
    const scope = this.#draws.chance(0.07) ? { source: "crm" } : undefined;
    const before = this.#absent();
    const begun = { touches: this.#touched.length, there: new Set(this.#crm.list.map(({ id }) => id)) };
    const tally = await w.read({ isPlan, ...(scope === undefined ? {} : { scope }) });
    w.cut = undefined;
    w.meanwhile = () => {};
    this.#crm.troubles = [];
    this.lived.readings += 1;
    if (tally === undefined && willBeKilled) this.lived.kills += 1;
    const [read] = w.kept<{ number: number; complete: number; whole: number; continues: number | null }>(
      "select number, complete, whole, continues from source_read order by number desc limit 1",
    );
    if (read === undefined) return;
    if (!this.#begun.has(read.number)) this.#begun.set(read.number, begun);
    const how = `${isPlan ? "plan" : "run"} ${read.number} from ${read.continues ?? "its start"}, moves ${moves}`;
    this.#story.push(`${how} → ${tally?.complete} ${tally?.problem?.code ?? ""} whole ${read.whole}`);
    if (read.continues !== null) this.lived.resumed += 1;
    if (tally?.complete === true) this.lived.complete += 1;
    if (tally?.complete === true && read.whole === 0) this.lived.changesOnly += 1;
    this.#nothingWasTakenAway(before, read, isPlan);
    if (tally?.complete === true) this.#everythingIsThere(read.continues ?? read.number);
  }

  /** Only a whole reading of a run says that somebody is gone, and nobody who was there all the time. */
  #nothingWasTakenAway(
    before: ReadonlySet<string>,
    read: { number: number; complete: number; whole: number; continues: number | null },
    isPlan: boolean,
  ): void {
    const gone = this.#absent().difference(before);
    if (gone.size === 0) return;
    if (isPlan || read.complete === 0 || read.whole === 0)
      this.#isWrong(`gone by no whole reading: ${[...gone].join()}`);
    const first = this.#begun.get(read.continues ?? read.number);
    if (first === undefined) return this.#isWrong("nobody knows when the reading began");
    const removed = new Set(this.#touched.slice(first.touches).flatMap(({ id, isRemoved }) => (isRemoved ? [id] : [])));
    for (const id of gone) if (first.there.has(id) && !removed.has(id)) this.#isWrong(`${id} was taken away`);
  }

  /** What stood as it is since a complete reading began is known as it is, or waits in quarantine. */
  #everythingIsThere(first: number): void {
    const touched = new Set(this.#touched.slice(this.#begun.get(first)?.touches ?? 0).map(({ id }) => id));
    this.#isAsListed(this.#crm.list.filter(({ id }) => !touched.has(id)));
  }

  #isAsListed(list: readonly CrmCustomer[]): void {
    const desired = this.#w.desired();
    const waiting = this.#waiting();
    for (const { id, branch } of list) {
      if (branch === null ? !waiting.has(id) : waiting.has(id))
        this.#isWrong(`${id} is ${branch === null ? "bad" : "good"}, and the quarantine says otherwise`);
      const wanted = this.#w.branch === "branch" ? branch : `Office ${branch}`;
      if (branch !== null && desired.get(id) !== wanted)
        this.#isWrong(`${id} is ${desired.get(id)}, and not ${wanted}`);
    }
  }

  async #lastReads(): Promise<void> {
    const w = this.#w;
    this.#crm.save();
    // The first may go on where an earlier one was cut; the second reads everything in one.
    for (const read of [1, 2]) {
      w.time.at += 25 * hour;
      w.serviceTime += 25 * hour;
      const tally = await w.read();
      if (read === 2 && tally?.complete !== true)
        this.#isWrong(`the last reading is not complete: ${tally?.problem?.message}`);
    }
    const { list } = this.#crm;
    this.#isAsListed(list);
    const ids = new Set(list.map(({ id }) => id));
    const others = [...this.#w.desired().keys()].filter((id) => !ids.has(id));
    if (others.length > 0) this.#isWrong(`what is gone is not taken away: ${others.join()}`);
    const waiting = [...this.#waiting()].filter((id) => !ids.has(id));
    if (waiting.length > 0) this.#isWrong(`what is gone waits in quarantine: ${waiting.join()}`);
    if (w.checkpoint() !== undefined) this.#isWrong("a reading that ended is gone on with");
  }

  #absent(): Set<string> {
    return new Set(this.#w.kept<{ id: string }>("select id from record where state = 'absent'").map(({ id }) => id));
  }

  #waiting(): Set<string> {
    const rows = this.#w.kept<{ id: string | null; code: string }>(
      "select coalesce(record_id, code) as id from quarantine where state <> 'resolved'",
    );
    return new Set(rows.map(({ id }) => id ?? ""));
  }

  #isWrong(what: string): void {
    this.#story.push(`  ${what}`);
    this.lived.wrong = [`${this.#crm.road}, seed ${this.#seed}`, ...this.#story];
  }
}
