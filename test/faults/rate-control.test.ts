/** @module-tag sized */
import { afterAll, describe, expect, it } from "vitest";
import type { EndpointId } from "../../src/contract/endpoints.ts";
import { backoffMs } from "../../src/http/retry.ts";
import { serviceSettingsSchema } from "../../src/http/http-settings.ts";
import { routes } from "../../src/sandbox/endpoints.ts";
import { simulationFolder } from "../simulation/simulate.ts";
import { Draws } from "../simulation/timeline.ts";
import { sampled } from "../support/sizes.ts";
import { complaint, RateWorld, type RateOptions, type Sent, type Weather } from "./daemon-in-weather.ts";

/**
 * How often the services are called while they are in trouble, through all layers of the program (client, reconciling,
 * settling, run), with the settings of production, in virtual time.
 */
const folder = simulationFolder();
afterAll(() => folder.remove());
let worlds = 0;

async function inWorld(options: Omit<RateOptions, "seed">, work: (world: RateWorld) => Promise<void>): Promise<void> {
  worlds += 1;
  const world = await RateWorld.open(folder.path, `world-${worlds}`, { seed: worlds, ...options });
  try {
    await work(world);
  } finally {
    world.close();
  }
}

/** Calls of each run; without an operation, those of the service that is in trouble: the other one is asked the time. */
const counts = (each: readonly (readonly Sent[])[], operation?: EndpointId): number[] =>
  each.map(
    (sent) =>
      sent.filter((one) => (operation === undefined ? one.operation.startsWith("E") : one.operation === operation))
        .length,
  );

function expectNoGrowth(numbers: readonly number[]): void {
  for (const [index, number] of numbers.entries())
    if (index > 0)
      expect(number, `calls from run to run: ${numbers.join(", ")}`).toBeLessThanOrEqual(numbers[index - 1] ?? 0);
}

/** The most calls that were under way at once within a stretch of time. */
function atOnce(sent: readonly Sent[], from: number, to: number): number {
  const inside = sent.filter((one) => one.at < to && (one.ended ?? Infinity) > from);
  return Math.max(
    0,
    ...inside.map((one) => inside.filter((other) => other.at <= one.at && (other.ended ?? Infinity) > one.at).length),
  );
}

describe("the back-off between the attempts of a read", () => {
  const settings = serviceSettingsSchema.parse({ baseUrl: "http://127.0.0.1:1", tokens: { authorization: "env:T" } });
  const steps = { baseMs: settings.backoffBaseMs, capMs: settings.backoffCapMs };

  it("is anything from nothing to the doubled step of 200 ms, up to 20 s, all alike (seed 7)", () => {
    const draws = new Draws(7);
    for (const [attempt, step] of [200, 400, 800, 1_600, 3_200, 6_400, 12_800, 20_000, 20_000].entries()) {
      const waits = Array.from({ length: 4_000 }, () => backoffMs(attempt, steps, draws));
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(0);
      expect(Math.max(...waits)).toBeLessThan(step);
      for (const part of [0, 1, 2, 3]) {
        const inside = waits.filter((wait) => wait >= (part * step) / 4 && wait < ((part + 1) * step) / 4).length;
        expect(inside / waits.length, `quarter ${part} of step ${step}`).toBeCloseTo(0.25, 1);
      }
    }
  });
});

const outages: Record<string, Weather> = {
  "refuses every connection": () => "refused",
  "never answers": () => "silent",
  'says "500" to everything': () => complaint,
  "answers with a page of its gateway": () => ({ status: 502, retryAfter: undefined, text: "<html></html>" }),
};

describe.each(sampled(Object.entries(outages)))("a platform that %s,", (_, weather) => {
  it(
    "gets few calls from a run of many customers, and one from each run after it: the circuit's probe",
    { tags: "long" },
    async () => {
      await inWorld({ customers: 100 }, async (world) => {
        world.weather = weather;
        const each = counts(await world.runs(4));
        // Eight failures in a row, and what was under way beside them: two calls at once.
        expect(each[0]).toBeLessThanOrEqual(10);
        expect(each.slice(1)).toEqual([1, 1, 1]);
        expect(world.sent.length / world.asked).toBeLessThanOrEqual(1.2);
      });
    },
  );

  it(
    "gets no more than 1.2 calls for each that was asked for, also where nothing but the store of repetitions holds back",
    { tags: "long" },
    async () => {
      await inWorld({ customers: 100, service: { breakerFailures: 1000 } }, async (world) => {
        world.weather = weather;
        const each = counts(await world.runs(3));
        expect(world.sent.length / world.asked).toBeLessThanOrEqual(1.2);
        expect(each[0]).toBeGreaterThanOrEqual(100);
        expectNoGrowth(each);
      });
    },
  );

  it(
    "gets no more than that when it breaks down in the middle, with operations in doubt to be settled",
    { tags: "long" },
    async () => {
      await inWorld({ customers: 30 }, async (world) => {
        let honest = 120;
        world.weather = (operation, at) => {
          honest -= 1;
          return honest >= 0 ? undefined : weather(operation, at);
        };
        const each = await world.runs(3);
        const failing = each.map((sent, index) => (index === 0 ? sent.slice(120) : sent));
        expectNoGrowth(counts(failing));
        expect(failing[0]?.length).toBeLessThanOrEqual(24);
        expect(world.sent.length / world.asked).toBeLessThanOrEqual(1.2);
        world.weather = () => undefined;
        await world.runs(3);
        expect(world.services.observation.state()).toMatchObject({ enterprises: 30, addedStaff: 30, assignments: 30 });
        const doubled = Object.values(world.services.observation.duplicates()).flat();
        expect(doubled).toEqual([]);
      });
    },
  );
});

describe('a service that says "500"', () => {
  it("to everything gets its calls farther and farther apart within one run", { tags: "long" }, async () => {
    await inWorld({ customers: 60, service: { breakerFailures: 1000 } }, async (world) => {
      world.weather = () => complaint;
      await world.run();
      // The other service is asked the time at the end.
      const times = world.sent.filter(({ operation }) => operation.startsWith("E")).map((one) => one.at);
      const part = Math.floor(times.length / 4);
      const lasted = (from: number): number => (times[from + part - 1] ?? 0) - (times[from] ?? 0);
      const quarters = [0, 1, 2, 3].map((quarter) => lasted(quarter * part));
      expect(quarters[1], quarters.join(", ")).toBeGreaterThan((quarters[0] ?? 0) * 1.5);
      expect(quarters[3], quarters.join(", ")).toBeGreaterThanOrEqual((quarters[1] ?? 0) * 0.9);
    });
  });

  const writes = Object.entries(routes).flatMap(([id, route]) => (route.writes ? [id] : []));
  it.each(sampled(["E2", "E4", "E5", "E9", "M1", "M9"] as const))(
    "to %s alone gets it hardly more than once for each customer in a run, and at last no more often than at first",
    { tags: "long" },
    async (operation) => {
      expect(writes).toContain(operation);
      const customers = 16;
      await inWorld({ customers }, async (world) => {
        if (operation === "E4") {
          await world.run();
          for (const customer of world.company.customers) customer.branch = "South";
        }
        world.weather = (called) => (called === operation ? complaint : undefined);
        const each = counts(await world.runs(4), operation);
        // What the platform proved absent over its settle time may be sent anew while a slow run still lasts: half of
        // them at most.
        const most = operation === "E9" ? 3 : customers * 1.5;
        expect(Math.max(...each), each.join(", ")).toBeLessThanOrEqual(most);
        expect(each[0]).toBeGreaterThan(0);
        expect(each.at(-1), each.join(", ")).toBeLessThanOrEqual(each[0] ?? 0);
        expect(world.sent.length / world.asked).toBeLessThanOrEqual(1.2);
      });
    },
  );
});

describe("a service that asks to wait for a while", () => {
  const answers: Record<string, (now: number) => { status: number; retryAfter: string }> = {
    "HTTP 429, in seconds": () => ({ status: 429, retryAfter: "12" }),
    "HTTP 503, in seconds": () => ({ status: 503, retryAfter: "12" }),
    "HTTP 429, as a date": (now) => ({ status: 429, retryAfter: new Date(now + 12_999).toUTCString() }),
    "HTTP 503, as a date": (now) => ({ status: 503, retryAfter: new Date(now + 12_999).toUTCString() }),
  };
  it.each(sampled(Object.entries(answers)))(
    "(%s) is, by all that work on many customers, and then the run goes on",
    { tags: "long" },
    async (_, answer) => {
      await inWorld({ customers: 20, service: { callsAtOnce: 8, callsPerSecond: 50 } }, async (world) => {
        const asked: number[] = [];
        let calls = 0;
        world.weather = (operation) => {
          if (routes[operation].service !== "member") return undefined;
          calls += 1;
          if (calls % 25 !== 5 || asked.length === 3) return undefined;
          asked.push(world.sent.length - 1);
          return { text: "busy", ...answer(world.timeline.clock().now()) };
        };
        const summary = await world.run();
        expect(asked).toHaveLength(3);
        for (const place of asked) {
          const from = world.sent[place]?.ended ?? 0;
          const early = world.sent.filter(
            (one) => routes[one.operation].service === "member" && one.at > from && one.at < from + 12_000,
          );
          expect(early, "calls before the time was over").toEqual([]);
        }
        expect(summary.customers.worked).toBe(20);
        expect(summary.customers.finished).toBeGreaterThan(10);
        expect(world.services.observation.state().assignments).toBeGreaterThan(10);
      });
    },
  );
});

describe("a service whose circuit was open and that is well again", () => {
  it(
    "is tried by one call while all others wait for it, and then serves every customer of the same run",
    { tags: "long" },
    async () => {
      const service = { callsAtOnce: 64, callsPerSecond: null };
      await inWorld({ customers: 60, concurrency: 60, service }, async (world) => {
        world.weather = () => "refused";
        const down = await world.run();
        expect(down.customers).toMatchObject({ worked: 60, unreadable: 60 });
        expect(world.platform.state().orderService.circuit.state).toBe("open");
        await world.timeline.pass(900_000);
        world.weather = () => undefined;
        world.latencyMs = 1_000;
        const before = world.sent.length;
        const summary = await world.run();
        const probe = world.sent[before];
        expect(atOnce(world.sent.slice(before), probe?.at ?? 0, probe?.ended ?? 0), "calls during the probe").toBe(1);
        expect(summary.customers).toMatchObject({ worked: 60, finished: 60 });
        expect(world.platform.state().orderService.circuit).toEqual({ state: "closed" });
      });
    },
  );

  it("that fails the probe is asked nothing else, however many wait", { tags: "long" }, async () => {
    const service = { callsAtOnce: 64, callsPerSecond: null };
    await inWorld({ customers: 60, concurrency: 60, service }, async (world) => {
      world.weather = () => "refused";
      await world.run();
      world.weather = () => "silent";
      await world.timeline.pass(900_000);
      // The other service is asked for the time.
      const runs = await world.runs(3);
      expect(counts(runs)).toEqual([1, 1, 1]);
      // The other one is silent too, and is asked the time: once, and by its probe from then on.
      const others = runs.map((sent) => sent.filter(({ operation }) => operation.startsWith("M")).length);
      expect(others).toEqual([3, 1, 1]);
    });
  });
});
