/** @module-tag sized */
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { createIds, systemRandomness } from "../../src/base/ids.ts";
import { createLogger } from "../../src/base/logger.ts";
import { streams } from "../../src/crm/model.ts";
import { createTransport, type Transport } from "../../src/http/transport.ts";
import { Ledger } from "../../src/ledger/ledger.ts";
import { createPlatform } from "../../src/platform/platform.ts";
import { memberCenterSettingsSchema, orderServiceSettingsSchema } from "../../src/platform/service-settings.ts";
import { runSync, type RunSummary } from "../../src/engine/run/run.ts";
import { limitsSettingsSchema } from "../../src/engine/run/run-settings.ts";
import { findEndpoint, routes, type EndpointId } from "../../src/sandbox/endpoints.ts";
import { startSandbox, type Sandbox } from "../../src/sandbox/sandbox.ts";
import { Company } from "../simulation/company.ts";
import { wholeSource } from "../simulation/crm-source.ts";
import { assumptions } from "../simulation/engine.ts";
import { Draws } from "../simulation/timeline.ts";
import { LedgerView } from "../support/ledger-view.ts";
import { temporaryFolder } from "../support/northwind.ts";
import { sampled } from "../support/sizes.ts";
import { standardPolicies } from "../support/world/rules.ts";
import { fillCompany } from "./daemon-in-weather.ts";

/**
 * Tokens of the sandbox's token endpoint, through the real client over real HTTP: 64 customers are worked on at once.
 */
const customers = 64;
const folder = temporaryFolder();
afterAll(() => folder.remove());
let worlds = 0;

class TokenWorld {
  readonly sandbox: Sandbox;
  readonly ledger: Ledger;
  /** Operations in the order in which their requests left. */
  readonly sent: EndpointId[] = [];
  /** Told of every request right before it leaves, counted from 1. */
  onSending: (operation: EndpointId, number: number) => void = () => {};
  readonly #company: Company;
  readonly #random = new Draws(11);

  constructor(sandbox: Sandbox, ledger: Ledger) {
    this.sandbox = sandbox;
    this.ledger = ledger;
    this.#company = new Company(this.#random);
    fillCompany(this.#company, customers);
    this.#company.orders.length = 0;
    for (const person of this.#company.staff) person.holds = [];
  }

  /** Token calls so far. */
  get tokens(): number {
    return this.sandbox.counts().calls["token"] ?? 0;
  }

  /** One run of a process of its own: it begins without tokens. `atOnce`: calls to each service. */
  async run(atOnce = customers): Promise<RunSummary> {
    const { credentials, url, tokenUrl } = this.sandbox;
    const application = { tokenUrl, clientId: credentials.appKey, clientSecret: "env:APP_SECRET" };
    const authorization = { oauth2: { ...application, grant: "client_credentials" } };
    const user = { grant: "password", username: credentials.userName, password: "env:USER_PASSWORD" };
    const service = { baseUrl: url, callsAtOnce: atOnce, callsPerSecond: null, backoffBaseMs: 1, backoffCapMs: 2 };
    const orderService = orderServiceSettingsSchema.parse({
      ...service,
      appKey: credentials.appKey,
      tokens: { authorization },
    });
    const memberCenter = memberCenterSettingsSchema.parse({
      ...service,
      tokens: { authorization, userToken: { oauth2: { ...application, ...user } } },
    });
    const logger = createLogger({ level: "silent" });
    const platform = createPlatform(
      { orderService, memberCenter, assumptions },
      {
        clock: systemClock,
        random: systemRandomness,
        logger,
        environment: { APP_SECRET: credentials.appSecret, USER_PASSWORD: credentials.userPassword },
        transports: {
          orderService: this.#told(createTransport({ ...orderService, connections: customers })),
          memberCenter: this.#told(createTransport({ ...memberCenter, connections: customers })),
        },
      },
    );
    this.ledger.runs.takeLock();
    try {
      return await runSync(
        {
          ledger: this.ledger,
          platform,
          sources: [wholeSource(this.#company)],
          streams: [],
          settings: assumptions,
          settle: { timeMs: 200, readings: 2, maxWaitMs: 10_000, asyncDeadlineMs: 2_000, asyncPauseMs: 100 },
          ordersUnseen: "resend",
          policies: standardPolicies,
          concurrency: customers,
          clock: systemClock,
          random: systemRandomness,
          logger,
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
      );
    } finally {
      this.ledger.runs.releaseLock();
      await platform.close();
    }
  }

  #told(transport: Transport): Transport {
    return {
      close: () => transport.close(),
      send: (request) => {
        const found = findEndpoint(request.method, request.path.replace(/\?.*$/u, ""));
        if (found === undefined) throw new Error(`no ${request.method} ${request.path}`);
        this.sent.push(found.id);
        this.onSending(found.id, this.sent.length);
        return transport.send(request);
      },
    };
  }
}

async function inWorld(work: (world: TokenWorld) => Promise<void>, tokenLifetimeMs = 3_600_000): Promise<void> {
  worlds += 1;
  const sandbox = await startSandbox({
    store: ":memory:",
    clock: systemClock,
    random: systemRandomness,
    settings: { tokenLifetimeMs },
  });
  const ledger = await Ledger.open({
    path: join(folder.path, `${worlds}.db`),
    clock: systemClock,
    ids: createIds(() => systemClock.now(), systemRandomness),
    random: systemRandomness,
    sealSecret: "zqcanary-sealing-key-0123456789",
  });
  try {
    await work(new TokenWorld(sandbox, ledger));
  } finally {
    ledger.close();
    await sandbox.close();
  }
}

/** Everything is there, once, and a further run sends nothing. */
async function endsRight(world: TokenWorld): Promise<void> {
  expect(world.sandbox.state()).toMatchObject({ enterprises: customers, addedStaff: customers });
  expect(Object.values(world.sandbox.duplicates()).flat()).toEqual([]);
  const { writingCalls } = world.sandbox.counts();
  expect((await world.run()).exitCode).toBe(0);
  expect(world.sandbox.counts().writingCalls).toBe(writingCalls);
}

let counted: Promise<number> | undefined;
/** Calls of a first run in which no token expires. */
async function callsOfFirstRun(): Promise<number> {
  counted ??= (async () => {
    let calls = 0;
    await inWorld(async (world) => {
      expect((await world.run()).exitCode).toBe(0);
      expect(world.tokens, "one for each header").toBe(3);
      calls = world.sent.length;
    });
    return calls;
  })();
  return await counted;
}

/** How the attempts of a kind of operation ended that did not end well. */
function otherThanDone(world: TokenWorld): string[] {
  const view = new LedgerView(world.ledger.path);
  try {
    return view
      .rows(z.object({ outcome: z.string() }), "select outcome from attempt where outcome <> 'done'")
      .map((row) => row.outcome);
  } finally {
    view.close();
  }
}

/** Operations that never began, because they got no permit. */
function notSent(world: TokenWorld): number {
  const view = new LedgerView(world.ledger.path);
  try {
    const kept =
      "select count(*) as count from operation where state = 'dropped' and outcome_message like 'not sent: %'";
    return view.rows(z.object({ count: z.int() }), kept)[0]?.count ?? 0;
  } finally {
    view.close();
  }
}

/** All tokens expire as the call with this number leaves. Answers how many of them have to be had anew then. */
function expireAt(world: TokenWorld, at: number, expired: () => void = () => {}): () => number {
  let held = { order: false, member: false };
  const servicesOf = (ids: readonly EndpointId[]): Set<string> => new Set(ids.map((id) => routes[id].service));
  world.onSending = (operation, number) => {
    if (number !== at) return;
    const services = servicesOf([...world.sent.slice(0, -1), operation]);
    held = { order: services.has("order"), member: services.has("member") };
    world.sandbox.expireTokens();
    expired();
  };
  return () => {
    const after = servicesOf(world.sent.slice(at - 1));
    return (held.order && after.has("order") ? 1 : 0) + (held.member && after.has("member") ? 2 : 0);
  };
}

describe("tokens that all expire in the middle of a first run", () => {
  it.each(sampled([0, 1, 50, 99], 2))(
    "after %i percent of its calls are renewed once each, and the run ends right",
    { tags: "long" },
    async (percent) => {
      const at = 1 + Math.floor(((await callsOfFirstRun()) - 1) * (percent / 100));
      await inWorld(async (world) => {
        const renewed = expireAt(world, at);
        const summary = await world.run();
        expect(summary.exitCode, JSON.stringify(summary.customers)).toBe(0);
        expect(renewed()).toBeGreaterThan(0);
        expect(world.tokens, "one for each header, and one more for each that expired in use").toBe(3 + renewed());
        await endsRight(world);
      });
    },
  );
});

describe("the renewal of tokens that expired in the middle", () => {
  const half = async (): Promise<number> => Math.floor((await callsOfFirstRun()) / 2);

  it("may be slow: everybody waits for it, and it is asked for once", { tags: "long" }, async () => {
    const at = await half();
    await inWorld(async (world) => {
      const renewed = expireAt(world, at, () => {
        world.sandbox.faults.add({ operation: "token", fault: "slow", delayMs: 400 });
      });
      expect((await world.run()).exitCode).toBe(0);
      expect(renewed()).toBeGreaterThan(1);
      expect(world.tokens).toBe(3 + renewed());
      world.sandbox.faults.clear();
      await endsRight(world);
    });
  });

  it(
    "may be refused: nothing is sent without one, the account is not asked about again and again, and the next run goes on",
    { tags: "long" },
    async () => {
      const at = await half();
      await inWorld(async (world) => {
        world.onSending = (_, number) => {
          if (number !== at) return;
          world.sandbox.expireTokens();
          world.sandbox.faults.add({ operation: "token", fault: "code500", status: 400 });
        };
        const summary = await world.run();
        expect([5, 7]).toContain(summary.exitCode);
        expect(summary.balance.adds).toBe(true);
        // What was under way with an old token, and nothing after it.
        expect(world.sent.length - at).toBeLessThanOrEqual(2 * customers);
        expect(world.tokens).toBeLessThanOrEqual(6);
        world.sandbox.faults.clear();
        await world.run();
        expect((await world.run()).exitCode).toBe(0);
        await endsRight(world);
      });
    },
  );
});

describe("a token that expires between the intent of a write and its sending", () => {
  it("makes its outcome unknown; it is settled by reading and sent again with a new one, once", async () => {
    await inWorld(async (world) => {
      let expired = false;
      world.onSending = (operation) => {
        // Until the platform has shown an enterprise, that it shows none proves nothing.
        if (operation !== "E2" || expired || world.sandbox.state().enterprises === 0) return;
        expired = true;
        world.sandbox.expireTokens();
      };
      const summary = await world.run(customers / 4);
      expect(expired).toBe(true);
      expect(new Set(otherThanDone(world))).toEqual(new Set(["unknown"]));
      expect(summary.balance.adds).toBe(true);
      await world.run();
      await endsRight(world);
    });
  });
});

describe("a token that cannot be had when a write asks for its permit", () => {
  it(
    "leaves it without an intent: nothing is in doubt, the journal says why it was not sent, and a later run does it",
    { tags: "long" },
    async () => {
      // It is told that its tokens are good for no whole second, so it asks for one before every call.
      await inWorld(async (world) => {
        world.onSending = (_operation, number) => {
          if (number === 1) world.sandbox.faults.add({ operation: "token", fault: "code500", status: 400 });
        };
        const summary = await world.run();
        expect(summary).toMatchObject({ exitCode: 7, balance: { adds: true } });
        expect(otherThanDone(world)).toEqual([]);
        // Whoever was not looked up in time could not be planned, and is told of with the others.
        expect(notSent(world)).toBeGreaterThan(0);
        expect(summary.customers.unreadable).toBe(customers);
        expect(world.sandbox.counts().writingCalls).toBe(0);
        world.sandbox.faults.clear();
        await world.run();
        await world.run();
        await endsRight(world);
      }, 900);
    },
  );
});
