import { expect } from "vitest";
import type { Parsed, World } from "./cli.ts";

/** What a test wants to know of the ledger, asked as a person would: by commands, and by what the sandbox was sent. */

type Kind = "customer" | "order" | "staff";

/** Holds that wait for a person, as `status` lists them. */
export async function openHolds(w: World): Promise<Parsed[]> {
  const { holds = [] } = await w.ask("status");
  return holds.filter(({ state }: Parsed) => state === "open");
}

/** The id of the only open hold. */
export async function openHold(w: World): Promise<string> {
  const holds = await openHolds(w);
  expect(holds).toHaveLength(1);
  return holds[0].id;
}

/** Why a record waits: its code. Undefined where it does not wait. */
export async function waitsFor(w: World, id: string, kind: Kind = "order"): Promise<string | undefined> {
  const { record } = await w.ask("explain", kind, id);
  return record?.deferred?.code;
}

/** What was done for a record, the newest first: endpoint, kind, state, attempts and more. */
export async function operationsOf(w: World, kind: Kind, id: string): Promise<Parsed[]> {
  const { operations } = await w.ask("explain", kind, id);
  return operations.newest;
}

/** Operations whose outcome is not known, or waits for a person. */
export async function unsettled(w: World): Promise<Parsed[]> {
  return await w.ask("settle", "list");
}

/** Records that cannot be used. */
export async function quarantined(w: World): Promise<Parsed[]> {
  return await w.ask("quarantine", "list");
}

/** Runs, the newest first. */
export async function runsOf(w: World): Promise<Parsed[]> {
  return await w.ask("runs", "--limit", "100");
}

/** Every entry of the audit log, the oldest first: kind, subject, body. */
export async function auditEntries(w: World): Promise<Parsed[]> {
  const { stdout } = await w.run("audit", "export");
  const lines = stdout.split("\n").filter((line) => line !== "");
  return lines.map((line): Parsed => JSON.parse(line)).filter(({ kind }) => kind !== undefined);
}

/** The number under which an instance was bought last, as the sandbox was sent it. */
export function numberOf(w: Pick<World, "sandbox">, instance: string, unit = 0): string {
  const bodies = Object.keys(w.sandbox.state().orders).flatMap((id) => w.sandbox.batches(id));
  for (const { body } of bodies.toSorted((one, other) => other.at - one.at)) {
    const { orderList = [] }: Parsed = JSON.parse(body);
    for (const { assets } of orderList)
      for (const { assetNos, products = [], merchandises = [] } of assets)
        if ([...(products ?? []), ...(merchandises ?? [])].some((one) => one.parentCrmProductId === instance))
          return assetNos[unit] ?? "";
  }
  return "";
}

/** What we bought for an order: its products, licence orders, and the steps since. */
export async function placedOf(w: World, order: string): Promise<Parsed> {
  const { placed } = await w.ask("explain", "order", order);
  return placed[0];
}

/** Every asset number that was fixed to an order, with `instanceId`, `slot` and `endedAt`. */
export async function numbersOf(w: World, order: string): Promise<Parsed[]> {
  const { numbers } = await w.ask("explain", "order", order);
  return numbers;
}

/** The asset numbers that we assigned to a person and that are not ended. */
export async function heldBy(w: World, staff: string): Promise<string[]> {
  const { assignments } = await w.ask("explain", "staff", staff);
  return assignments.filter(({ to }: Parsed) => to === null).map(({ assetNumber }: Parsed) => assetNumber);
}

/** A person approves all that is held. */
export async function approveAll(w: World): Promise<void> {
  for (const { id } of await openHolds(w))
    expect((await w.run("approve", id, "--reason", "looked at", "--by", "anna")).exitCode).toBe(0);
}

/** The enterprise that a customer is linked with. */
export async function enterpriseOf(w: World, customer: string): Promise<string> {
  const { links } = await w.ask("explain", "customer", customer);
  return links.find(({ to }: Parsed) => to === null)?.enterpriseGlobalId ?? "";
}

/** The account that a person is linked with. */
export async function memberOf(w: World, staff: string): Promise<string> {
  const { staffLinks } = await w.ask("explain", "staff", staff);
  return staffLinks.find(({ to }: Parsed) => to === null)?.memberGlobalId ?? "";
}

/** A run of the job that does everything: how it ended, what it sent, and what it says of itself. */
export async function ran(
  w: World,
  ...words: string[]
): Promise<{ exitCode: number | null; calls: Record<string, number>; said: Parsed }> {
  const { exitCode, calls, stdout } = await w.does("--json", "run", "everything", ...words);
  return { exitCode, calls, said: JSON.parse(stdout) };
}

/**
 * Records of the world that are not done: `orders O1`, whether they were refused or wait (`rejected`, `deferred`), why,
 * and whether they are pending.
 */
export async function notDone(
  w: World,
): Promise<{ record: string; outcome: string; code: string; reason: string; pending: boolean }[]> {
  const { open } = await w.ask("status");
  const groups = open.filter(({ standing }: Parsed) => standing !== "quarantined");
  const found = [];
  for (const [stream, kind, rows] of [
    ["customers", "customer", w.customers],
    ["orders", "order", w.orders],
    ["staff", "staff", w.staff],
  ] as const) {
    const of = groups.filter((group: Parsed) => group.stream === stream);
    const named: string[] = of.flatMap(({ examples }: Parsed) => examples.map(({ record }: Parsed) => record));
    const ids = named.map((record) => record.slice(record.indexOf("/") + 1));
    // Of each reason three records are named.
    if (of.some(({ count, examples }: Parsed) => count > examples.length)) ids.push(...rows.map(({ id }) => id));
    for (const id of [...new Set(ids)].toSorted()) {
      const { record } = await w.ask("explain", kind, id);
      if (record?.deferred === undefined || record.deferred === null) continue;
      const { deferred, outcome, pending } = record;
      found.push({ record: `${stream} ${id}`, outcome: outcome.decision, ...deferred, pending });
    }
  }
  return found;
}
