import { join } from "node:path";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { type Stream, streams } from "../../src/crm/model.ts";
import type { RunRequest } from "../../src/engine/run/request.ts";
import { limitsSettingsSchema } from "../../src/engine/run/run-settings.ts";
import type { RunSummary } from "../../src/engine/run/run.ts";
import type { EndpointId } from "../../src/sandbox/endpoints.ts";
import type { Source } from "../../src/source/source.ts";
import { mappedSource } from "../simulation/crm-source.ts";
import { Engine, type Configuration, type Seams } from "../simulation/engine.ts";
import { SimulatedServices } from "../simulation/services.ts";
import { Draws, Timeline } from "../simulation/timeline.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { putNewLedger } from "../support/new-ledger.ts";
import { exportedRows, type Crm } from "../support/world/crm.ts";
import { folder } from "../support/world/start.ts";

const usual: Configuration = {
  ordersUnseen: "resend",
  settle: { timeMs: 4_000, readings: 2, maxWaitMs: 60_000, asyncDeadlineMs: 20_000, asyncPauseMs: 500 },
  concurrency: 2,
  callsAtOnce: 2,
  jobs: 1,
  limits: limitsSettingsSchema.parse({ absenceReads: 1, absenceTime: "0s" }),
};

/** One customer with an order of two assets, the first of which somebody is to hold. */
export function oneCustomer(): Crm {
  return {
    customers: [{ id: "C1" }],
    orders: [{ id: "O1", customer: "C1", assets: ["A1", "A2"] }],
    staff: [{ id: "S1", customer: "C1", holds: ["A1"] }],
  };
}

/** The same with nobody to hold anything. */
export function oneOrder(): Crm {
  return { ...oneCustomer(), staff: [] };
}

/** A CRM, both services and one program after the other in virtual time, each with the parts that a break replaces. */
export class BreakWorld {
  readonly crm: Crm;
  readonly services: SimulatedServices;
  readonly timeline = new Timeline();
  readonly configuration: Configuration;
  readonly path = join(folder(), "ledger.db");
  readonly log: string[] = [];
  readonly #seams: Seams;
  readonly #draws = new Draws(1);
  /** How far the wall clock of the machine is off. */
  offset = 0;
  /** How many rows a reading of a stream gives before it breaks off. */
  readonly cut = new Map<Stream, number>();
  #engine: Engine | undefined;

  /** `seams` are what the check is given: nothing, or a break. */
  constructor(seams: Seams, crm: Crm = oneCustomer(), configuration: Partial<Configuration> = {}) {
    this.crm = crm;
    this.#seams = seams;
    this.configuration = { ...usual, ...configuration };
    this.services = new SimulatedServices(this.timeline, this.#draws, { shortM6: false });
    putNewLedger(this.path);
    onTestFinished(() => this.close());
  }

  /** The program ends. */
  leave(): void {
    this.#engine?.close();
    this.#engine = undefined;
  }

  close(): void {
    this.leave();
    if (this.services.store.open) this.services.close();
  }

  /** The program that is on, or a new one where it died. */
  async program(): Promise<Engine> {
    if (this.#engine?.life.dead === false) return this.#engine;
    return await this.restart();
  }

  /** The program ends, and another one begins with its ledger. */
  async restart(): Promise<Engine> {
    this.#engine?.close();
    this.#engine = await this.another();
    return this.#engine;
  }

  /** Another program with the same ledger. */
  async another(): Promise<Engine> {
    return await Engine.start({
      path: this.path,
      timeline: this.timeline,
      draws: this.#draws,
      services: this.services,
      sources: [this.#source()],
      configuration: this.configuration,
      offset: () => this.offset,
      diesAt: Number.POSITIVE_INFINITY,
      log: (line) => void this.log.push(line),
      seams: this.#seams,
    });
  }

  /** One run of everything. Undefined where the program was killed in it. */
  async run(request: Partial<RunRequest> = {}): Promise<RunSummary | undefined> {
    const { limits } = this.configuration;
    const whole = { job: "everything", trigger: "hand", streams, limits, read: true, header: {} } as const;
    return await (await this.program()).run({ ...whole, ...request });
  }

  /**
   * The program is killed when the next call of this operation has left it: the service takes the call all the same.
   */
  dies(operation: EndpointId): void {
    this.services.onLeave = (left) => {
      if (left !== operation) return;
      this.services.onLeave = () => {};
      this.#engine?.life.die();
    };
  }

  async pass(ms: number): Promise<void> {
    await this.timeline.pass(ms);
  }

  /** How many calls of an operation reached the services. */
  calls(operation: EndpointId): number {
    return this.services.calls.filter((call) => call.operation === operation).length;
  }

  /** What stands in the file of the ledger, past the program. */
  look<T>(work: (view: LedgerView) => T): T {
    const view = new LedgerView(this.path);
    try {
      return work(view);
    } finally {
      view.close();
    }
  }

  /** How many operations of an endpoint are in each state. */
  states(endpoint: EndpointId): Record<string, number> {
    const row = z.object({ state: z.string(), count: z.int() });
    const sql = "select state, count(*) as count from operation where endpoint = ? group by state";
    return Object.fromEntries(this.look((view) => view.rows(row, sql, endpoint)).map((one) => [one.state, one.count]));
  }

  #source(): Source {
    const { crm, cut } = this;
    return {
      ...mappedSource({ name: "crm", streams }),
      async *read(stream) {
        const rows = exportedRows(stream, crm).map((row, index) => ({
          raw: { place: `${stream}:${index + 1}`, value: JSON.parse(JSON.stringify(row)) },
        }));
        const given = rows.slice(0, cut.get(stream) ?? rows.length);
        if (given.length > 0) yield given;
        return { complete: !cut.has(stream), full: true, rows: given.length };
      },
    };
  }
}
