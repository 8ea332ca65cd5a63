import { blockersOf, signOff, type BooksPlace } from "../../src/books/books.ts";
import type { Inquiry } from "../../src/inquiry/inquiry.ts";
import { reportSettingsSchema } from "../../src/operate/report-settings.ts";
import type { LedgerWorld } from "../support/world/ledger-world.ts";
import { threeMonths, zone } from "../inquiry/statement/statement-world.ts";

/** Who closes. */
export const anna = { by: "anna", reason: undefined };

/** A ledger as the application hands it to closing. */
export function placeOf(world: LedgerWorld, fields: Partial<BooksPlace> = {}): BooksPlace {
  return {
    config: { zone, reports: reportSettingsSchema.parse({}), periods: { formats: ["csv", "json"] }, audit: {} },
    secrets: { reveal: () => "" },
    header: { hash: "c".repeat(64) },
    ledgerPath: world.path,
    group: undefined,
    clock: { now: () => world.now, monotonic: () => world.now, sleep: async () => undefined },
    existingLedger: async () => world.ledger,
    inquiry: async () => ({ ...(await world.inquiry()), ...saidNow(world) }),
    ...fields,
  };
}

/** A service has said what time it is, and the ledger holds nothing of the future. */
export function saidNow(world: Pick<LedgerWorld, "now">): Pick<Inquiry, "knownTimes"> {
  return {
    knownTimes: async () => ({ newest: 0, kept: [{ service: "order-service", time: world.now }] }),
  };
}

/** The three months, on 25 November, with nothing in the way of closing October. */
export async function readyWorld(): Promise<{ world: LedgerWorld; place: BooksPlace }> {
  const world = await threeMonths({ isOtherMoney: true });
  await world.ledger.runs.finish(world.run, { state: "done", exitCode: 0, balance: {}, summary: {} });
  world.now = Date.parse("2026-11-25T10:00:00.000Z");
  const place = placeOf(world);
  await signAll(place, "2026-10");
  world.now += 1_000;
  return { world, place };
}

/** Signs off whatever stands in the way of closing a period. */
export async function signAll(place: BooksPlace, label: string): Promise<void> {
  const ids = (await blockersOf(place, label)).map(({ id }) => id);
  if (ids.length > 0) await signOff(place, label, ids, { by: "anna", reason: "known" });
}
