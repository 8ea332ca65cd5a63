import type { FaultRule } from "../../../src/sandbox/faults.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { notDone, unsettled } from "../asking.ts";
import { world, type Parsed, type World } from "../cli.ts";
import { runResultOf, type Ended } from "../program.ts";
import { base } from "./small.ts";
import type { Crm } from "./crm.ts";

type Done = Ended & { calls: Record<string, number> };

/**
 * C1 with the order O1 and two people, and C2 with the order O9 and one person; the first person of each holds an
 * asset.
 */
function twoCustomers(): Crm {
  const texts = JSON.stringify(base);
  const second = JSON.parse(
    texts
      .replaceAll('"C1"', '"C2"')
      .replaceAll("O1", "O9")
      .replaceAll(/\bA([12])\b/g, "B$1")
      .replaceAll(/\bS([12])\b/g, "T$1"),
  ) as Crm;
  return {
    customers: [...base.customers, ...second.customers],
    orders: [...base.orders, ...second.orders],
    staff: [...base.staff, ...second.staff.slice(0, 1)],
  };
}

const bothJobs = `jobs:
  deals: { kind: sync, streams: [customers, orders] }
  people: { kind: sync, streams: [staff] }
`;

/** Two customers in two jobs over one ledger and a sandbox. */
export class TwoCustomers {
  readonly w: World;
  #ledgers = 0;

  private constructor(w: World) {
    this.w = w;
  }

  static async start(): Promise<TwoCustomers> {
    const w = await world({ records: twoCustomers() });
    w.extra = bothJobs;
    w.write();
    return new TwoCustomers(w);
  }

  get sandbox(): Sandbox {
    return this.w.sandbox;
  }

  /** What the CRM holds; the next command reads it. */
  get world(): World {
    return this.w;
  }

  set environment(more: Record<string, string>) {
    Object.assign(this.w.environment, more);
  }

  fault(rule: FaultRule): void {
    this.w.sandbox.faults.add(rule);
  }

  /** Writes the CRM, and carries a command out. Asking for numbers (E9) is not counted. */
  async does(...words: string[]): Promise<Done> {
    this.w.write();
    const { calls, ...ended } = await this.w.does(...words);
    const { E9: _, ...others } = calls;
    return { ...ended, calls: others };
  }

  /** Runs a job; answers its exit code, the writing calls it made, and what it printed. */
  async run(job: "deals" | "people"): Promise<{ exit: number; calls: Record<string, number>; text: string }> {
    const ended = await this.does("--json", "run", job);
    return { exit: runResultOf(ended).exit, calls: ended.calls, text: ended.stdout + ended.stderr };
  }

  /** Both jobs, first the deals. */
  async runBoth(): Promise<{ exits: number[]; calls: Record<string, number> }> {
    const deals = await this.run("deals");
    const people = await this.run("people");
    const calls = { ...deals.calls };
    for (const [name, count] of Object.entries(people.calls)) calls[name] = (calls[name] ?? 0) + count;
    return { exits: [deals.exit, people.exit], calls };
  }

  /** The ledger is lost, and all that it knew: the enterprises are somebody else's now. */
  loseLedger(): void {
    this.#ledgers += 1;
    this.w.losesItsLedger(`again-${this.#ledgers}.db`);
  }

  /** Why records wait, by their id, as code and words. */
  async waiting(): Promise<Record<string, string>> {
    const rows = await notDone(this.w);
    return Object.fromEntries(rows.map(({ record, code, reason }) => [record.split(" ")[1], `${code}: ${reason}`]));
  }

  /** What operations wait for a person, with their endpoint. */
  async parked(): Promise<{ endpoint: string; outcomeMessage: string }[]> {
    const open = await unsettled(this.w);
    return open
      .filter(({ state }) => state === "parked")
      .map(({ endpoint, outcomeMessage }: Parsed) => ({ endpoint, outcomeMessage }));
  }

  /** Orders of the CRM that are known to be placed, with how: `placed`, `adopted`. */
  async placed(): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for (const { id } of this.w.orders) {
      const { placed } = await this.w.ask("explain", "order", id);
      const [now] = placed;
      if (now !== undefined) found[id] = now.origin;
    }
    return found;
  }

  get twice(): unknown[] {
    return Object.values(this.sandbox.duplicates()).flat();
  }
}
