import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeCustomers } from "../customers.ts";
import { fillWithHistory } from "../history.ts";
import type { Measuring } from "../measuring.ts";
import { ordersOfCustomer, writeOrders } from "../orders.ts";
import type { Program } from "../program.ts";
import { ledgerBytes, measureCommand, type Place } from "./command.ts";
import type { Phase } from "./phases.ts";
import type { PhaseTaken, Scaled } from "./scaled.ts";

/** Rows of history beside each customer. */
const historyOfCustomer = 10;

/** Walks through the phases at each size; `keep` is told what there is after each of them. */
export async function measureScale(
  measuring: Measuring,
  { sizes, phases }: { sizes: readonly number[]; phases: readonly Phase[] },
  keep: (taken: readonly Scaled[]) => void,
): Promise<Scaled[]> {
  const all: Scaled[] = [];
  for (const customers of sizes) {
    const taken: Scaled = {
      customers,
      orders: customers * ordersOfCustomer,
      history: customers * historyOfCustomer,
      phases: [],
    };
    all.push(taken);
    const place = placeOf(measuring, customers);
    for (const phase of phases) {
      measuring.tell(`${customers} customers: ${phase}`);
      taken.phases.push(await measurePhase(measuring.programs.now, phase, place));
      keep(all);
    }
  }
  return all;
}

function placeOf({ work, tell }: Measuring, customers: number): Place {
  const folder = join(work, `scale-${customers}`);
  const place = { customers, directory: folder, source: join(folder, "export"), tell };
  mkdirSync(place.source, { recursive: true });
  return place;
}

async function measurePhase(program: Program, phase: Phase, place: Place): Promise<PhaseTaken> {
  const { customers, directory, source } = place;
  if (phase === "make") {
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(source, { recursive: true });
    writeCustomers(join(source, "customers.csv"), customers);
    writeOrders(source, customers);
    const filled = await fillWithHistory(program, join(directory, "ledger.db"), customers * historyOfCustomer);
    const { result: _, ...cost } = filled;
    return { phase, ...cost, done: 0, calls: {}, ledgerBytes: ledgerBytes(directory) };
  }
  if (phase === "change") {
    // Another street each time, so that it can be measured again.
    const street = `Street of ${new Date().toISOString().replaceAll(/\D/gu, "")}`;
    writeCustomers(join(source, "customers.csv"), customers, { index: Math.ceil(customers / 2), street });
  }
  return await measureCommand(program, phase, place, commands(place)[phase]);
}

function commands({ directory, customers }: Place): Record<Exclude<Phase, "make">, string[]> {
  const period = new Date().toISOString().slice(0, 7);
  const report = (kind: string): string[] => [
    "report",
    kind,
    "--period",
    period,
    "--out",
    join(directory, `${kind}.csv`),
  ];
  const last = `C${String(customers).padStart(8, "0")}`;
  return {
    first: ["run", "everything"],
    unchanged: ["run", "everything"],
    change: ["run", "everything"],
    verify: ["run", "verify"],
    status: ["status"],
    explain: ["explain", "customer", last],
    orders: report("orders"),
    reconciliation: report("reconciliation"),
    audit: ["audit", "verify"],
  };
}
