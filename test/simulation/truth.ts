import { streams, type Stream } from "../../src/crm/model.ts";
import type { Company } from "./company.ts";
import type { ReadingMood } from "./crm-source.ts";

/** From so many records on that are new in place of others, a list is doubted; of fewer, where all of them are. */
const believedOfNew = 5;
/** So many possibilities of what the program knows are kept. */
const mostBases = 32;

/** Whether a read was doubted for records that are new in place of others. */
type Turnover = "surely" | "perhaps" | "not";

/** A list that lost at most so many rows is believed where it is short; a reading that is to be noticed loses more. */
const believedOfFew = 2;

/**
 * What the CRM really said at the last readings, and how these went: what may be taken away, and what a run has to
 * know.
 */
export class Truth {
  /** The readings are those of a run; what the readings of a plan lack is not missed. */
  counts = true;
  /** A person said that a list really lost so much. */
  acceptsShrink = false;
  /** The clock of the machine was set, so that how long somebody is gone cannot be told by it. */
  jumped = false;
  readonly #company: Company;
  readonly #rule: { reads: number; ms: number; shrink: number };
  readonly #now: () => number;
  /** How the last reading of a stream went, until it has ended well. */
  readonly #moods = new Map<Stream, ReadingMood>(streams.map((stream) => [stream, "down"]));
  readonly #begun = new Set<Stream>();
  /** Streams of which the last reading was in a program that died: nobody knows whether it was kept. */
  readonly #perhapsLost = new Set<Stream>();
  /** Streams of which a reading was not outlived by the program, until as many records came as ever. */
  readonly #unsure = new Set<Stream>();
  readonly #mostRows = new Map<Stream, number>();
  readonly #rows = new Map<Stream, number>();
  /** Which records the program knows of a stream; several where nobody knows whether it believed what it read. */
  readonly #bases = new Map<Stream, ReadonlySet<string>[]>();
  readonly #basesBefore = new Map<Stream, readonly ReadonlySet<string>[]>();
  /** Streams of which the last reading may have been doubted for records that are new in place of others. */
  readonly #perhapsDoubted = new Set<Stream>();
  /** Everything that a stream said when it was read whole last. */
  readonly #said = new Map<Stream, string>();
  /** Who should hold what, as `customer login instance`, when the staff was read whole last. */
  #wanted = new Set<string>();
  /** People of a customer, as `customer login`, and all of them by id. */
  #present = new Set<string>();
  #presentIds = new Set<string>();
  /** Customers of whom a record cannot be read, by stream; "*": nobody can tell whose it is. */
  readonly #unreadable = new Map<Stream, Set<string>>();
  readonly #lastGood = new Map<string, string>();
  /** What somebody should hold, as `customer instance`, when that could be read last. */
  readonly #lastForms = new Map<string, ReadonlySet<string>>();
  /** The same as a program may have read it that died before the reading ended. */
  readonly #perhaps = new Map<string, ReadonlySet<string>>();
  readonly #missed = new Map<string, { reads: number; since: number }>();

  constructor(company: Company, rule: { reads: number; ms: number; shrink: number }, now: () => number) {
    this.#company = company;
    this.#rule = rule;
    this.#now = now;
  }

  /** A reading begins. A list that could not be told from a whole one is cut off instead. */
  begin(stream: Stream, mood: ReadingMood, rows: number): ReadingMood {
    const before = this.#rows.get(stream) ?? 0;
    const kept = mood === "shrunk" ? rows - believedOfFew - 1 : 0;
    const isNoticed =
      before > 0 && kept >= 0 && before - kept > believedOfFew && before - kept >= before * this.#rule.shrink;
    const how = mood === "shrunk" && !isNoticed ? "cut" : mood;
    this.#moods.set(stream, how === "whole" ? "cut" : how);
    this.#begun.add(stream);
    this.#perhapsLost.delete(stream);
    this.#basesBefore.set(stream, this.#bases.get(stream) ?? []);
    return how;
  }

  /** A reading gives so many records: what comes of it is not known before it ends. */
  gives(stream: Stream, count: number): void {
    const given = this.#company.records(stream).slice(0, count);
    // What came may be kept, also of a reading that does not end.
    const ids = new Set(given.map(({ id }) => id));
    const bases = this.#basesBefore.get(stream) ?? [];
    const before = bases.length === 0 ? [new Set<string>()] : bases;
    this.#bases.set(stream, distinct([...before, ...before.map((base) => base.union(ids))]));
    for (const { id } of given.filter(({ broken }) => !broken))
      if (!this.#lastGood.has(`${stream} ${id}`)) this.#lastGood.set(`${stream} ${id}`, this.#customerOf(stream, id));
    if (stream !== "staff") return;
    for (const { id, customer, login, holds } of this.#company.staff)
      if (given.some((row) => row.id === id && !row.broken))
        this.#perhaps.set(login, new Set(holds.map((asset) => `${customer} ${asset}`)));
  }

  /** A reading has reached its end. */
  readWhole(stream: Stream): void {
    const records = this.#company.records(stream);
    const before = this.#rows.get(stream) ?? 0;
    const lost = before - records.length;
    // So many are not believed to be gone, although they are.
    const isDoubted =
      before > 0 && (records.length === 0 || (lost > believedOfFew && lost >= before * this.#rule.shrink));
    const turned = this.#turned(stream, records, isDoubted);
    this.#moods.set(stream, !this.acceptsShrink && (isDoubted || turned === "surely") ? "shrunk" : "whole");
    const most = this.#mostRows.get(stream) ?? 0;
    if (records.length >= most || this.acceptsShrink) this.#unsure.delete(stream);
    this.#mostRows.set(stream, Math.max(most, records.length));
    if (!this.wasWhole(stream)) return;
    this.#rows.set(stream, records.length);
    this.#said.set(stream, JSON.stringify(records));
    const unreadable = new Set<string>();
    for (const { id, broken, nameless } of records) {
      const customer = this.#customerOf(stream, id);
      if (!broken) this.#lastGood.set(`${stream} ${id}`, customer);
      else unreadable.add(nameless ? (this.#lastGood.get(`${stream} ${id}`) ?? "*") : customer);
    }
    this.#unreadable.set(stream, unreadable);
    if (stream === "staff") this.#readStaff();
  }

  /** Whether ids seem to have changed, as far as anybody knows what the program compares with. */
  #turned(stream: Stream, records: readonly { id: string; broken: boolean }[], isDoubted: boolean): Turnover {
    const ids = new Set(records.map(({ id }) => id));
    const bases = this.#basesBefore.get(stream) ?? [];
    const doubting = bases.filter((base) => {
      const limit = Math.min(believedOfNew, base.size);
      return limit > 0 && ids.difference(base).size >= limit && base.difference(ids).size >= limit;
    });
    const isNot = doubting.length === 0 || this.acceptsShrink;
    const how = isNot ? "not" : doubting.length < bases.length ? "perhaps" : "surely";
    this.#perhapsDoubted.delete(stream);
    if (how === "perhaps") this.#perhapsDoubted.add(stream);
    if (how === "surely") return how;
    const usable = new Set(records.filter(({ broken }) => !broken).map(({ id }) => id));
    const known = bases.map((base) => usable.union(base.intersection(ids)));
    // What a read lacks is there until it counts as gone.
    const lacked = bases.map((base) => usable.union(base));
    const after = isDoubted ? lacked : [...known, ...lacked, ...(how === "perhaps" ? bases : []), usable];
    this.#bases.set(stream, distinct(this.acceptsShrink ? [usable, ...after] : after));
    return how;
  }

  #readStaff(): void {
    const people = this.#company.staff.filter((person) => !person.gone);
    this.#present = new Set(people.map((person) => `${person.customer} ${person.login}`));
    this.#presentIds = new Set(people.map((person) => person.login));
    this.#wanted = new Set(
      people.flatMap((person) => person.holds.map((asset) => `${person.customer} ${person.login} ${asset}`)),
    );
    for (const { id, customer, login, holds } of people)
      if (!this.#company.broken.has(`staff ${id}`))
        this.#lastForms.set(login, new Set(holds.map((asset) => `${customer} ${asset}`)));
    for (const { login, gone } of this.#company.staff) {
      if (!gone) this.#missed.delete(login);
      else if (this.counts) {
        const { reads, since } = this.#missed.get(login) ?? { reads: 0, since: this.#now() };
        this.#missed.set(login, { reads: reads + 1, since });
      }
    }
  }

  #customerOf(stream: Stream, id: string): string {
    if (stream === "customers") return id;
    const records = stream === "orders" ? this.#company.orders : this.#company.staff;
    return records.find((record) => record.id === id)?.customer ?? "";
  }

  /** The program died: whether it kept what it has just read is not known. */
  died(): void {
    for (const stream of this.#begun) {
      this.#perhapsLost.add(stream);
      this.#rows.delete(stream);
      this.#unsure.add(stream);
      const [before, now] = [this.#basesBefore.get(stream) ?? [], this.#bases.get(stream) ?? []];
      this.#bases.set(stream, distinct([...before, ...now]));
    }
  }

  /** A program begins to work. */
  runBegins(): void {
    this.#begun.clear();
  }

  /** The last reading of the stream reached its end. */
  wasWhole(stream: Stream): boolean {
    return this.#moods.get(stream) === "whole";
  }

  /** The last reading of the stream was not whole, or the program may have compared it with one that it died in. */
  mayBeHalf(stream: Stream): boolean {
    return !this.wasWhole(stream) || this.#unsure.has(stream) || this.#perhapsDoubted.has(stream);
  }

  /** The last reading of the stream was not whole, and that can be seen. */
  wasHalf(stream: Stream): boolean {
    return !this.wasWhole(stream) && !(this.#moods.get(stream) === "empty" && (this.#rows.get(stream) ?? 0) === 0);
  }

  /** The last reading of the stream said what is so now. */
  isKnown(stream: Stream): boolean {
    return (
      this.wasWhole(stream) &&
      !this.#perhapsDoubted.has(stream) &&
      !this.#perhapsLost.has(stream) &&
      this.#said.get(stream) === JSON.stringify(this.#company.records(stream))
    );
  }

  /** The customer that a record named when it could be read last. */
  lastCustomer(stream: Stream, id: string): string | undefined {
    return this.#lastGood.get(`${stream} ${id}`);
  }

  /** The instances that somebody should hold, when that could be read last. */
  lastAssets(login: string): string[] {
    return [...(this.#lastForms.get(login) ?? [])].map((item) => item.slice(item.indexOf(" ") + 1));
  }

  /** Why nobody meant that this is taken away from this person; undefined: somebody did. */
  whyUnmeant(customer: string, login: string, instance: string): string | undefined {
    const half = streams.find((stream) => !this.wasWhole(stream));
    if (half !== undefined) return `${half} was not read whole last`;
    const person = `${customer} ${login}`;
    const isCancelled = this.#company.orders.some(
      (order) => order.cancelled && order.assets.some((asset) => asset.id === instance),
    );
    if (this.#wanted.has(`${person} ${instance}`) && !isCancelled)
      return "the CRM wanted it kept when it was read last";
    const unreadable = [...this.#unreadable.values()].some((scope) => scope.has(customer));
    if (unreadable || this.#unreadable.get("staff")?.has("*") === true)
      return "a record that may want it kept cannot be read";
    if (this.#present.has(person) || this.#presentIds.has(login)) return undefined;
    // Taken away in the CRM before the person left, as far as that was read.
    const held = `${customer} ${instance}`;
    if (this.#lastForms.get(login)?.has(held) !== true || this.#perhaps.get(login)?.has(held) === false)
      return undefined;
    const missed = this.#missed.get(login);
    if (missed === undefined || missed.reads < this.#rule.reads)
      return `it was missed ${missed?.reads ?? 0} times only`;
    if (!this.jumped && this.#now() - missed.since < this.#rule.ms) return "it was not missed for long enough";
    return undefined;
  }
}

function distinct(sets: readonly ReadonlySet<string>[]): ReadonlySet<string>[] {
  return [...new Map(sets.map((one) => [JSON.stringify([...one].toSorted()), one])).values()].slice(-mostBases);
}
