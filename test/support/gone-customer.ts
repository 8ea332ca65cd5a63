import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { openHold } from "./asking.ts";
import { world, type World } from "./cli.ts";
import { company } from "./world/crm.ts";

/** What every private text of the customer C1 and of its people holds, and of nobody else. */
export const goneTexts = ["Zqcanary Gone", "zqcanarygone", "+4917711110000"];

const ofGone = ({ customer }: { customer: string }): boolean => customer === "C1";

/**
 * Two customers with an order and two people each; C1 and its people have texts of their own. They are synchronised;
 * meanwhile somebody of C1 got another name, and a row of somebody else could not be used, and was put right.
 */
export async function livedWithGone(): Promise<World> {
  const w = await world({ records: company(2, 2) });
  w.extra = "limits: { absenceReads: 1, absenceTime: 0s, removals: { enterprise: { floor: 50, share: 1 } } }\n";
  w.customers[0] = {
    id: "C1",
    name: "Zqcanary Gone Works",
    address: "Zqcanary Gone Road 1",
    contact: "Zqcanary Gone Boss",
    account: "zqcanarygoneboss",
    email: "zqcanarygone@example.com",
    mobile: "+4917711110000",
  };
  w.staff = w.staff.map((row, index) =>
    ofGone(row)
      ? {
          ...row,
          login: `zqcanarygone${index}`,
          name: `Zqcanary Gone Person ${index}`,
          mobile: `+491771111000${index}`,
        }
      : row,
  );
  w.write();
  await runs(w, 0);
  const [first, second] = w.staff;
  if (first === undefined || second === undefined) throw new Error("nobody is there");
  w.staff[0] = { ...first, name: "Zqcanary Gone Married" };
  w.staff[1] = { ...second, name: "Zqcanary Gone ".repeat(40) };
  w.write();
  await runs(w, 3);
  w.staff[1] = second;
  w.write();
  await runs(w, 0);
  return w;
}

/** Runs everything, and expects this exit code. */
export async function runs(w: World, exitCode: number): Promise<string> {
  const ran = await w.run("run", "everything");
  expect(ran.exitCode, ran.stdout + ran.stderr).toBe(exitCode);
  return ran.stdout;
}

/** The CRM gives C1 and its people no more, and nothing waits for them: what would be taken away is rejected. */
export async function gone(w: World, exitCode = 4): Promise<void> {
  w.customers = w.customers.filter(({ id }) => id !== "C1");
  w.orders = w.orders.filter((row) => !ofGone(row));
  w.staff = w.staff.filter((row) => !ofGone(row));
  w.write();
  await runs(w, exitCode);
}

/** A person says that what the order of C1 has stays on the platform, and a run takes note of it. */
export async function nothingWaits(w: World): Promise<void> {
  const rejected = await w.run("reject", await openHold(w), "--reason", "it stays", "--by", "anna.lee");
  expect(rejected.exitCode, rejected.stderr).toBe(0);
  await runs(w, 0);
}

export const eraseGone = ["audit", "erase", "--customer", "C1", "--reason", "request 17", "--by", "anna.lee"];

/** Which of these texts stand in which file of the ledger, in whatever page and encoding. */
export function bytesOf(w: World, texts: readonly string[] = goneTexts): string[] {
  return readdirSync(w.folder)
    .filter((name) => name.startsWith("ledger.db"))
    .flatMap((name) => {
      const bytes = readFileSync(join(w.folder, name));
      return texts
        .filter((text) => bytes.includes(text) || bytes.includes(text, 0, "utf16le"))
        .map((text) => `${name}: ${text}`);
    });
}
