import { describe, expect, it } from "vitest";
import { pageOf, pageSize, pagingOf, type Listed, type PageKind } from "../support/moving-list.ts";
import { spread } from "../support/sizes.ts";
import { startService } from "./http-service.ts";
import { customerMapping, openSource, readAll, type WholeReading } from "./support.ts";

const kinds: readonly PageKind[] = ["page", "offset", "cursor", "nextLink", "linkHeader", "keyset"];
/** As many pages as it takes to have one in the middle. */
const pages = 4;
const ids = [...Array(pages * pageSize - 1).keys()].map((n) => `R${String(n + 1).padStart(2, "0")}`);
const listOf = (names: readonly string[]): Listed[] => names.map((id) => ({ id, edited: 0 }));

interface Moved {
  reading: WholeReading;
  requests: number;
  /** What stood in the list from before the reading until after it. */
  stayed: string[];
}

/** Reads a list that `change` moves just before a request is answered. */
async function readMoving(
  kind: PageKind,
  change: (list: Listed[], request: number) => void,
  settings: { moving?: string; key?: string | undefined; bad?: readonly string[] } = {},
): Promise<Moved> {
  const list = listOf(ids);
  const always = new Set(ids);
  const service = await startService(({ query, headers }, number) => {
    change(list, number);
    const now = new Set(list.map(({ id }) => id));
    for (const id of always) if (!now.has(id)) always.delete(id);
    return pageOf(kind, list, query, `http://${headers.host ?? ""}`, (one) => (bad.includes(one.id) ? one.id : one));
  });
  const { moving, key = "id", bad = [] } = settings;
  const paging = { ...pagingOf[kind], ...(moving === undefined ? {} : { moving }) };
  const stream = { url: `${service.origin}/list`, key, records: "items", paging, mapping: customerMapping };
  const reading = await readAll(openSource({ kind: "http", streams: { customers: stream } }, "."), "customers");
  return { reading, requests: service.asked.length, stayed: [...always] };
}

const found = ({ raws }: WholeReading): string[] => raws.map(({ value }) => JSON.stringify(value["id"]).slice(1, -1));

const changes: Record<string, (list: Listed[], at: number) => void> = {
  "is deleted": (list, at) => list.splice(at, 1),
  "is inserted": (list, at) => list.splice(at, 0, { id: `${list[Math.max(0, at - 1)]?.id ?? "R00"}x`, edited: 0 }),
  "is edited and comes to the end": (list, at) => {
    const [one] = list.splice(at, 1);
    if (one !== undefined) list.push({ ...one, edited: one.edited + 1 });
  },
  "is edited and comes to the front": (list, at) => {
    const [one] = list.splice(at, 1);
    if (one !== undefined) list.unshift({ ...one, edited: one.edited + 1 });
  },
  "is deleted, and another one inserted at the end": (list, at) => {
    list.splice(at, 1);
    list.push({ id: "S", edited: 0 });
  },
  "is deleted, and another one inserted at the front": (list, at) => {
    list.splice(at, 1);
    list.unshift({ id: "A", edited: 0 });
  },
};

describe.each(kinds)("a list that is read by %s and moves", (kind) => {
  it.each(Object.keys(changes))(
    "loses no record unnoticed where one of any page %s at any page boundary",
    { tags: "long" },
    async (how) => {
      for (let request = 2; request <= pages; request += 1) {
        for (let at = 0; at < ids.length; at += 1) {
          // A list that is paged by its keys stands in their order.
          if (kind === "keyset" && how.includes("comes to")) continue;
          const { reading, stayed } = await readMoving(kind, (list, number) => {
            if (number === request) changes[how]?.(list, at);
            if (kind === "keyset") list.sort((one, other) => (one.id < other.id ? -1 : 1));
          });
          const missed = stayed.filter((id) => !found(reading).includes(id));
          const case_ = `request ${request}, record ${at}: ${reading.outcome.problem?.message}`;
          if (reading.outcome.complete) expect(missed, case_).toEqual([]);
          else expect(["source.moved", "source.count-differs"], case_).toContain(reading.outcome.problem?.code);
        }
      }
    },
  );

  it("is read whole and once where it stands still", async () => {
    const { reading, requests } = await readMoving(kind, () => undefined);
    expect(found(reading)).toEqual(ids);
    expect(reading.outcome).toMatchObject({ complete: true, rows: ids.length });
    // Reading again costs every request a second time; a list without a total ends with an empty page.
    const beyond = { page: 2, offset: 1, keyset: 1, cursor: 0, nextLink: 0, linkHeader: 0 }[kind];
    expect(requests).toBe((kind === "keyset" ? 1 : 2) * (pages + beyond));
  });
});

const read = kinds.filter((kind) => kind !== "keyset");

it.each(read)(
  "a list that is read by %s is complete although one was deleted, once a pass lost nothing",
  async (kind) => {
    const { reading, stayed } = await readMoving(kind, (list, number) => {
      if (number === 2) list.splice(0, 1);
    });
    expect(reading.outcome.complete).toBe(true);
    expect(new Set(found(reading))).toEqual(new Set([...stayed, "R01"]));
    expect(found(reading)).toHaveLength(ids.length);
  },
);

it.each(read)("a list that is read by %s and loses one at every page is incomplete", async (kind) => {
  const { reading } = await readMoving(kind, (list, number) => {
    if (number > 1) list.splice(0, 1);
  });
  expect(reading.outcome).toMatchObject({ complete: false, problem: { code: "source.moved" } });
});

it.each(read)(
  "a list that is read by %s and moves loses no record unnoticed that cannot be used",
  { tags: "long" },
  async (kind) => {
    const bad = ["R03", "R04", "R07"];
    for (let request = 2; request <= pages * 2; request += 1) {
      for (const [how, change] of Object.entries(changes)) {
        for (const at of spread([...ids.keys()], 5)) {
          const { reading, stayed } = await readMoving(
            kind,
            (list, number) => {
              if (number === request) change(list, at);
            },
            { bad },
          );
          const there = stayed.filter((id) => bad.includes(id));
          const case_ = `request ${request}, record ${at} ${how}: ${reading.outcome.problem?.message}`;
          if (reading.outcome.complete) expect(reading.bads.length, case_).toBeGreaterThanOrEqual(there.length);
          else expect(["source.moved", "source.count-differs"], case_).toContain(reading.outcome.problem?.code);
        }
      }
    }
  },
);

it.each(read)("a list that is read by %s and stands still has each record once that cannot be used", async (kind) => {
  const { reading } = await readMoving(kind, () => undefined, { bad: ["R03", "R04", "R11"] });
  expect(reading.outcome).toMatchObject({ complete: true, rows: ids.length });
  expect(reading.bads).toHaveLength(3);
});

it("a list is incomplete where a record that cannot be used leaves it in each pass, also where another one comes", async () => {
  // Once the first page was read its first record goes, so that R04 moves up behind the reader; then another one comes.
  const { reading } = await readMoving(
    "page",
    (list, number) => {
      if (number === 2 || number === 8) list.splice(0, 1);
      if (number === 7) list.splice(0, 0, { id: "bad 2", edited: 0 });
    },
    { bad: ["R01", "bad 2"] },
  );
  expect(reading.outcome).toMatchObject({ complete: false, problem: { code: "source.moved" } });
});

it("a list whose records have no key is incomplete where each pass loses one", async () => {
  const list = listOf(ids);
  const service = await startService(({ query }, number) => {
    if (number % 3 === 0) list.splice(0, 1);
    return pageOf("offset", list, query, "");
  });
  const stream = { url: service.origin, records: "items", paging: pagingOf.offset, mapping: customerMapping };
  const { outcome } = await readAll(openSource({ kind: "http", streams: { customers: stream } }, "."), "customers");
  expect(outcome).toMatchObject({ complete: false, problem: { code: "source.moved" } });
});

it("a list whose pages are cut short is read on behind each of them", async () => {
  const service = await startService(({ query }) => {
    const at = Number(query["offset"]);
    return { body: { items: listOf(ids).slice(at, at + (at > 3 ? 1 : pageSize)) } };
  });
  const paging = pagingOf.offset;
  const stream = { url: service.origin, key: "id", records: "items", paging, mapping: customerMapping };
  const reading = await readAll(openSource({ kind: "http", streams: { customers: stream } }, "."), "customers");
  expect(reading.outcome.complete).toBe(true);
  expect(found(reading)).toEqual(ids);
});
