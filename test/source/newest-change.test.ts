import { expect, it } from "vitest";
import { NewestChange, type ChangesSeen } from "../../src/source/http/list-reading.ts";
import type { SinceSettings } from "../../src/source/http/http-source-settings.ts";

const minute = 60_000;
const at = (minutes: number): number => Date.UTC(2026, 9, 1, 8, minutes);
const iso = (minutes: number): string => new Date(at(minutes)).toISOString();

const settings = (more: Partial<SinceSettings> = {}): SinceSettings => ({
  parameter: "since",
  in: "query",
  format: "iso",
  template: "{since}",
  changedAt: "changed",
  overlapMs: 5 * minute,
  fullReadEvery: "24h",
  ...more,
});

/** One page: how long it took until it came, what the clock of the service said, and when its records were changed. */
interface Page {
  took?: number;
  date?: number | undefined;
  changed?: (string | null)[];
}

/** What the next reading asks for after these pages, in minutes; undefined: everything. */
function cursorOf(
  pages: readonly Page[],
  { asked, before, since = settings() }: { asked?: number; before?: ChangesSeen; since?: SinceSettings } = {},
): { minutes: number | undefined; seen: ChangesSeen } {
  let passed = 0;
  const newest = new NewestChange(
    since,
    asked === undefined ? undefined : iso(asked),
    { now: () => at(200), monotonic: () => passed },
    before,
  );
  for (const { took = 0, date, changed = [] } of pages) {
    passed = took * minute;
    newest.see({
      items: changed.map((value) => ({
        row: { place: "1", value: { changed: value } },
      })),
      answer: { date: date === undefined ? undefined : at(date) },
    });
  }
  const cursor = newest.cursor();
  return { minutes: cursor === undefined ? undefined : (Date.parse(cursor) - at(0)) / minute, seen: newest.seen };
}

it.each<[what: string, pages: Page[], asked: number | undefined, expected: number | undefined]>([
  [
    "begins before the newest change, so that those of the same instant come again",
    [{ changed: [iso(10), iso(40)] }],
    5,
    35,
  ],
  ["takes the clock of the service where that is earlier", [{ date: 30, changed: [iso(40)] }], 5, 25],
  [
    "reaches back to what was changed while it lasted, and passed by on a page before",
    [
      { date: 60, changed: [iso(1)] },
      { took: 20, date: 80, changed: [iso(35)] },
    ],
    undefined,
    10,
  ],
  ["does the same without a Date header", [{ changed: [iso(1)] }, { took: 20, changed: [iso(35)] }], undefined, 10],
  [
    "is whole where a record is of a time to come, and no Date header bounds it",
    [{ changed: [iso(9_999)] }],
    5,
    undefined,
  ],
  ["is bounded by the Date header where a record is of a time to come", [{ date: 30, changed: [iso(9_999)] }], 5, 25],
  ["begins where it began when nothing was changed", [{ date: 90 }], 5, 5],
  ["reaches back by the whole overlap, also behind what it was asked for", [{ date: 90, changed: [iso(6)] }], 5, 1],
  ["is whole once the clock of the service was set back", [{ date: 3, changed: [iso(9)] }], 5, undefined],
  ["goes by the clock of the service where no record tells", [{ date: 30, changed: [null, "2026-10-01"] }], 5, 25],
  ["stays where it was where nothing tells", [{ changed: [null] }], 5, 5],
  ["is whole where nothing tells and nothing was asked for", [{ changed: [null] }], undefined, undefined],
])("the next reading of changes %s", (_what, pages, asked, expected) => {
  expect(cursorOf(pages, asked === undefined ? {} : { asked }).minutes).toBe(expected);
});

it("a reading that goes on keeps the time at which its first part began, however late the second one comes", () => {
  const first = cursorOf([{ date: 20, changed: [iso(10)] }]);
  expect(first.seen).toEqual({ serviceTime: at(20), began: at(10), rows: 1 });
  expect(cursorOf([{ date: 500, changed: [iso(490)] }], { before: first.seen }).minutes).toBe(5);
  const { changedAt: _, ...byClock } = settings();
  const without = cursorOf([{ date: 20, changed: [iso(10)] }], { since: byClock });
  expect(cursorOf([{ date: 500 }], { before: without.seen, since: byClock }).minutes).toBe(15);
});
