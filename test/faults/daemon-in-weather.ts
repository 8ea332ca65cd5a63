import { join } from "node:path";
import { systemHost } from "../../src/base/host.ts";
import { createIds } from "../../src/base/ids.ts";
import { createLogger } from "../../src/base/logger.ts";
import type { EndpointId } from "../../src/contract/endpoints.ts";
import { streams } from "../../src/crm/model.ts";
import { TransportFailure, type Transport, type TransportAnswer } from "../../src/http/transport.ts";
import { Ledger } from "../../src/ledger/ledger.ts";
import { createPlatform, type Platform } from "../../src/platform/platform.ts";
import { memberCenterSettingsSchema, orderServiceSettingsSchema } from "../../src/platform/service-settings.ts";
import { runSync, type RunSummary } from "../../src/engine/run/run.ts";
import { limitsSettingsSchema, settleSettingsSchema } from "../../src/engine/run/run-settings.ts";
import { findEndpoint, routes } from "../../src/sandbox/endpoints.ts";
import { Company } from "../simulation/company.ts";
import { customerRow, staffRow } from "../support/world/crm.ts";
import { wholeSource } from "../simulation/crm-source.ts";
import { assumptions } from "../simulation/engine.ts";
import { SimulatedServices } from "../simulation/services.ts";
import { standardPolicies } from "../support/world/rules.ts";
import { Draws, Timeline } from "../simulation/timeline.ts";

/** A request as it left, and when, in virtual milliseconds. */
export interface Sent {
  operation: EndpointId;
  writes: boolean;
  at: number;
  /** When its answer, or the end of waiting for one, came; undefined while it is on its way. */
  ended: number | undefined;
}

/** What a service does with a request: undefined leaves it to the honest one. */
export type Weather = (operation: EndpointId, at: number) => "refused" | "silent" | TransportAnswer | undefined;

export const complaint: TransportAnswer = {
  status: 299,
  retryAfter: undefined,
  text: '{"code":"500","message":"network error, retry","cause":"-"}',
};

/** The real ledger; virtual time stands still until what is written is committed. */
async function openStill(path: string, timeline: Timeline, draws: Draws): Promise<Ledger> {
  const clock = timeline.clock();
  return await Ledger.open({
    path,
    clock,
    host: systemHost,
    ids: createIds(() => clock.now(), draws),
    random: draws,
    sealSecret: "zqcanary-sealing-key-0123456789",
    awaited: (commit) => timeline.still(commit()),
  });
}

/**
 * A daemon of the program over the simulated services, with the settings of production, in virtual time: many
 * customers, each with an order and a person who is to hold its asset.
 */
export class RateWorld {
  readonly timeline: Timeline;
  readonly services: SimulatedServices;
  readonly company: Company;
  readonly platform: Platform;
  readonly sent: Sent[] = [];
  /** Calls that the layers above the client asked for, whatever became of them. */
  asked = 0;
  weather: Weather = () => undefined;
  /** What each honest answer takes longer than it otherwise would. */
  latencyMs = 0;
  readonly #ledger: Ledger;
  readonly #concurrency: number;
  readonly #draws: Draws;

  private constructor(ledger: Ledger, timeline: Timeline, draws: Draws, options: RateOptions) {
    this.timeline = timeline;
    this.#ledger = ledger;
    this.#draws = draws;
    this.#concurrency = options.concurrency ?? 16;
    this.services = new SimulatedServices(this.timeline, draws, { shortM6: false });
    this.company = new Company(draws);
    fillCompany(this.company, options.customers);
    const transport = this.#transport();
    const tokens = { authorization: { fixed: "sandbox-app-token" }, userToken: { fixed: "sandbox-user-token" } };
    const service = { baseUrl: "http://127.0.0.1:1", tokens, ...options.service };
    const platform = createPlatform(
      {
        orderService: orderServiceSettingsSchema.parse({ ...service, appKey: "sandbox-app" }),
        memberCenter: memberCenterSettingsSchema.parse(service),
        assumptions,
      },
      {
        clock: this.timeline.clock(),
        random: draws,
        logger: createLogger({ level: "silent" }),
        environment: {},
        transports: { orderService: transport, memberCenter: transport },
      },
    );
    this.platform = {
      ...platform,
      orderService: this.#counted(platform.orderService),
      memberCenter: this.#counted(platform.memberCenter),
    };
  }

  static async open(folder: string, name: string, options: RateOptions): Promise<RateWorld> {
    const draws = new Draws(options.seed);
    const timeline = new Timeline();
    const ledger = await openStill(join(folder, `${name}.db`), timeline, draws);
    return new RateWorld(ledger, timeline, draws, options);
  }

  /** One run of everything, as the daemon's schedule starts it. */
  async run(): Promise<RunSummary> {
    let summary: RunSummary | undefined;
    let problem: unknown;
    this.#ledger.runs.takeLock();
    runSync(
      {
        ledger: this.#ledger,
        platform: this.platform,
        sources: [wholeSource(this.company)],
        streams: streams.map((stream) => ({ source: "crm", stream, job: "everything" })),
        settings: { ...assumptions, poolBatch: 50, staffPage: { base: 1, size: 100 } },
        settle: settleSettingsSchema.parse({}),
        ordersUnseen: "resend",
        policies: standardPolicies,
        concurrency: this.#concurrency,
        clock: this.timeline.clock(),
        random: this.#draws,
        logger: createLogger({ level: "silent" }),
        progress: () => {},
      },
      {
        job: "everything",
        trigger: "schedule",
        streams,
        limits: limitsSettingsSchema.parse({}),
        read: true,
        header: {},
      },
    ).then(
      (value) => {
        summary = value;
      },
      (error: unknown) => {
        problem = error;
      },
    );
    await this.timeline.until(() => summary !== undefined || problem !== undefined);
    this.#ledger.runs.releaseLock();
    if (summary === undefined) throw new Error("the run failed", { cause: problem });
    return summary;
  }

  /** Runs, a quarter of an hour apart; gives what each of them sent. */
  async runs(count: number): Promise<Sent[][]> {
    const each: Sent[][] = [];
    for (let index = 0; index < count; index += 1) {
      const before = this.sent.length;
      await this.run();
      each.push(this.sent.slice(before));
      await this.timeline.pass(900_000);
    }
    return each;
  }

  close(): void {
    this.#ledger.close();
    this.services.close();
  }

  /** Counts every call of a method. A list is one call, however many pages it has. */
  #counted<T extends object>(service: T): T {
    return new Proxy(service, {
      get: (target, name, receiver): unknown => {
        this.asked += 1;
        return Reflect.get(target, name, receiver);
      },
    });
  }

  #transport(): Transport {
    return {
      close: () => Promise.resolve(),
      send: async (request) => {
        const found = findEndpoint(request.method, request.path.replace(/\?.*$/u, ""));
        if (found === undefined) throw new Error(`no ${request.method} ${request.path}`);
        const { writes } = routes[found.id];
        const sent: Sent = { operation: found.id, writes, at: this.timeline.elapsed, ended: undefined };
        this.sent.push(sent);
        this.timeline.touch();
        try {
          const does = this.weather(found.id, sent.at);
          if (does === undefined) {
            const answer = await this.services.carry(request);
            if (this.latencyMs > 0) await this.timeline.sleep(this.latencyMs);
            return answer;
          }
          if (does === "refused") throw new TransportFailure({ written: false, reason: "ECONNREFUSED" });
          await this.timeline.sleep(does === "silent" ? 90_000 : 50);
          if (does === "silent") throw new TransportFailure({ written: true, reason: "the call took too long" });
          return does;
        } finally {
          sent.ended = this.timeline.elapsed;
          this.timeline.touch();
        }
      },
    };
  }
}

export interface RateOptions {
  seed: number;
  customers: number;
  concurrency?: number;
  /** Settings of both services; those of production where nothing is said. */
  service?: Record<string, unknown>;
}

/**
 * Puts customers, each with an order of one asset and a person who is to hold it, in the place of those that were
 * drawn.
 */
export function fillCompany(company: Company, count: number): void {
  const { customers, orders, staff } = company;
  customers.length = 0;
  orders.length = 0;
  staff.length = 0;
  for (let n = 1; n <= count; n += 1) {
    const [id, customer] = [`O${n}-A1`, `C${n}`];
    customers.push(customerRow({ id: customer }));
    orders.push({
      id: `O${n}`,
      customer,
      cancelled: false,
      unsellable: false,
      assets: [{ id, type: "cloud_account", quantity: 1 }],
      packages: [],
      products: [{ id: `${id}-P1`, parent: id }],
    });
    staff.push({ ...staffRow({ id: `S${n}`, customer, holds: [id] }), gone: false });
  }
}
