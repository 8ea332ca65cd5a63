/**
 * @module-tag long
 * @module-tag sized
 */
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandomness } from "../../src/base/ids.ts";
import { createStaging } from "../../src/ledger/records/staging.ts";
import { limitsSettingsSchema } from "../../src/engine/run/run-settings.ts";
import { believesAll } from "../support/world/acceptances.ts";
import { ingestStream } from "../../src/ingest/ingest.ts";
import type { Asked } from "../../src/ingest/read-parts.ts";
import { sourceSettingsSchema } from "../../src/source/source-settings.ts";
import { createSource, type Source } from "../../src/source/source.ts";
import { startService } from "../source/http-service.ts";
import { pageOf, pagingOf, type Listed, type PageKind } from "../support/moving-list.ts";
import { sizes } from "../support/sizes.ts";
import { answersWith } from "../support/world/records.ts";
import { openLedger, sqlite } from "../support/world/start.ts";
import { trustedAt } from "../support/trusted.ts";

/**
 * Sources that move while they are read: lists in pages whose records are inserted, deleted and edited between any two
 * requests, read whole and by what changed, under a clock of the service that is not ours.
 */

/** The same numbers for the same seed. */
function numbersOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (state ^ (state << 13)) >>> 0;
    state = (state ^ (state >>> 17)) >>> 0;
    state = (state ^ (state << 5)) >>> 0;
    return state % below;
  };
}

const kinds: readonly PageKind[] = ["page", "offset", "cursor", "nextLink", "linkHeader", "keyset"];

class MovingCrm {
  readonly kind: PageKind;
  readonly next: (below: number) => number;
  list: Listed[] = [];
  /** Its own clock, far from ours. */
  time: number;
  #made = 0;
  moves = false;

  constructor(kind: PageKind, next: (below: number) => number) {
    this.kind = kind;
    this.next = next;
    this.time = Math.floor(Date.now() / 1000) * 1000 + (next(5) - 2) * 3_600_000;
    for (let count = 4 + next(10); count > 0; count -= 1) this.#insert(this.list.length);
  }

  /** One change, or none. */
  step(): void {
    this.time += 1_000 * (1 + this.next(90));
    if (!this.moves || this.next(3) === 0) return;
    const at = this.next(Math.max(1, this.list.length));
    const what = this.next(4);
    if (what === 0) this.#insert(this.next(this.list.length + 1));
    else if (what === 1 && this.list.length > 4) this.list.splice(at, 1);
    else this.#edit(at, what === 2);
  }

  #insert(at: number): void {
    this.#made += 1;
    // Keys come in no order of time.
    const id = `R${(this.#made * 37) % 101}-${this.#made}`;
    this.list.splice(at, 0, { id, edited: this.time });
    this.#order();
  }

  /** An edited record may come to the front or to the end, in a list whose order changes. */
  #edit(at: number, stays: boolean): void {
    const [one] = this.list.splice(at, 1);
    if (one === undefined) return;
    const ordered = stays || this.kind === "offset" || this.kind === "keyset";
    this.list.splice(ordered ? at : this.next(2) * this.list.length, 0, { id: one.id, edited: this.time });
    this.#order();
  }

  #order(): void {
    if (this.kind === "keyset") this.list.sort((one, other) => (one.id < other.id ? -1 : 1));
  }
}

interface Stored {
  id: string;
  state: string;
  body: string;
}

async function sourceOf(crm: MovingCrm, incremental: boolean): Promise<Source> {
  const service = await startService(({ query, headers }) => {
    crm.step();
    const since = Number(query["since"] ?? Number.NEGATIVE_INFINITY);
    const changed = crm.list.filter(({ edited }) => edited >= since);
    const { body, headers: more = {} } = pageOf(crm.kind, changed, query, `http://${headers.host ?? ""}`);
    return { body, headers: { date: new Date(crm.time).toUTCString(), ...more } };
  });
  const stream = {
    url: `${service.origin}/list`,
    key: "id",
    records: "items",
    paging: pagingOf[crm.kind],
    mapping: {
      id: "id",
      name: "id",
      customerType: { value: "company" },
      branchCode: { template: "v{edited}" },
      branchName: "id",
    },
    ...(incremental
      ? { since: { parameter: "since", format: "epoch_ms", changedAt: "edited", overlapMs: 1_000 } }
      : {}),
  };
  const source = createSource("crm", sourceSettingsSchema.parse({ kind: "http", streams: { customers: stream } }), {
    clock: systemClock,
    random: systemRandomness,
    secrets: (ref) => ref,
    staging: createStaging(),
    baseDirectory: ".",
  });
  onTestFinished(() => source.close());
  return source;
}

/** Several readings of a list in motion, and then of one that stands still. */
async function liveThrough(seed: number): Promise<{ incomplete: number; readings: number }> {
  const next = numbersOf(seed);
  const kind = kinds[seed % kinds.length] ?? "page";
  const crm = new MovingCrm(kind, next);
  const incremental = next(2) === 0;
  const source = await sourceOf(crm, incremental);
  const { ledger, path } = await openLedger();
  const stored = sqlite(path, { readonly: true }).prepare<[], Stored>(
    `select record.id, record.state, record_version.body from record join record_version
       using (stream, namespace, id, version)`,
  );
  let readings = 0;
  const read = async (whole: boolean): Promise<boolean> => {
    readings += 1;
    const cursor = (await ledger.records.lastCompleteRead("crm", "customers"))?.cursor ?? undefined;
    const deps = {
      ledger,
      settings: answersWith(),
      limits: limitsSettingsSchema.parse({}),
      absence: { reads: 3, ms: 0, time: async () => trustedAt(systemClock.now()) },
      clock: systemClock,
    };
    const since = whole ? undefined : cursor;
    const asked = (): Promise<Asked> => Promise.resolve(since === undefined ? {} : { since });
    const tally = await ingestStream(deps, {
      source,
      stream: "customers",
      run: `run ${readings}`,
      job: undefined,
      accepts: believesAll("crm"),
      progress: () => undefined,
      asked,
    });
    const { code = "source.moved", message, cause } = tally.problem ?? {};
    // A page that moved by its whole length is the same one again.
    expect(["source.moved", "source.count-differs", "source.page-loop"], `${message} ${String(cause)}`).toContain(code);
    return tally.complete;
  };
  const always = (before: ReadonlySet<string>): Set<string> =>
    before.intersection(new Set(crm.list.map(({ id }) => id)));

  expect(await read(true)).toBe(true);
  let incomplete = 0;
  let there = new Set(crm.list.map(({ id }) => id));
  for (let round = 3 + next(4); round > 0; round -= 1) {
    crm.moves = true;
    if (!(await read(next(2) === 0))) incomplete += 1;
    crm.moves = false;
    there = always(there);
    const gone = stored.all().filter(({ id, state }) => state === "absent" && there.has(id));
    expect(gone, "what was there all the time was taken away").toEqual([]);
  }

  const wanted = new Map(crm.list.map(({ id, edited }) => [id, `v${edited}`]));
  const known = (): Map<string, unknown> =>
    new Map(
      stored
        .all()
        .filter(({ state }) => state === "current")
        .map(({ id, body }) => [id, Object(JSON.parse(body))["branchCode"]]),
    );
  expect(await read(true), "a list that stands still is read whole").toBe(true);
  const after = known();
  for (const [id, version] of wanted) expect(after.get(id), `${id} after the next whole reading`).toBe(version);
  for (let more = 0; more < 2; more += 1) expect(await read(true)).toBe(true);
  expect(known(), "what is gone is gone after several whole readings").toEqual(wanted);
  return { incomplete, readings };
}

/** So many seeds are one test, which closes what it opened. */
const together = 200;
const blocks = Array.from({ length: Math.ceil(sizes.motions / together) }, (_, index) => ({
  first: index * together + 1,
  last: Math.min((index + 1) * together, sizes.motions),
}));

describe("a source in motion", () => {
  it.for(blocks)(
    "loses nothing until the next whole reading, and nothing is taken away that was there (seeds $first to $last)",
    async ({ first, last }) => {
      let incomplete = 0;
      for (let seed = first; seed <= last; seed += 1) {
        try {
          const lived = await liveThrough(seed);
          incomplete += lived.incomplete;
        } catch (thrown) {
          throw new Error(`seed ${seed}`, { cause: thrown });
        }
      }
      expect(incomplete, "some readings were met by a move").toBeGreaterThan(0);
    },
  );
});
