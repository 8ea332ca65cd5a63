import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { systemClock } from "../../../src/base/clock.ts";
import { hostOf, type Host } from "../../../src/base/host.ts";
import { document, until, world, type Parsed, type World } from "../../support/cli.ts";
import { startCrmSync, type Running } from "../../support/process.ts";
import { trustingHost, type PausedProgram } from "../../support/processes/paused.ts";
import { crmSync, type Ended, type Place } from "../../support/program.ts";
import { company } from "../../support/world/crm.ts";

/**
 * A program is held up in the middle of a call, as a virtual machine that is paused, and its ledger is started
 * elsewhere. Nobody can know whether it goes on.
 */

const minute = 60_000;
const tokenMs = 60 * minute;
const elsewhere = hostOf(() => "another boot");

/** Where a command line is carried out: the ledger, the host, and how far its clock is ahead, in milliseconds. */
interface Where {
  ledger: string;
  host: Host;
  ahead?: number;
}

/** A company with an order. Its programs and services share a time that the test moves. */
class TwoHosts {
  readonly w: World;
  readonly #time: { passed: number };

  private constructor(w: World, time: { passed: number }) {
    this.w = w;
    this.#time = time;
  }

  /** `tokens`: with an end that is known, or without. */
  static async start(tokens: "ending" | "endless"): Promise<TwoHosts> {
    const w = await world({ records: company(1, 1), sandbox: { settings: { tokenLifetimeMs: tokenMs } } });
    const time = { passed: 0 };
    const own = new TwoHosts(w, time);
    Object.assign(w.clock, {
      now: () => systemClock.now() + time.passed,
      monotonic: () => systemClock.monotonic() + time.passed,
      sleep: async (ms: number) => own.pass(ms),
    });
    own.pass(0);
    w.extra = tokens === "ending" ? services(w) : "";
    w.write();
    const first = await own.run(own.here(), "run", "everything");
    expect(first.exitCode, first.stdout + first.stderr).toBe(0);
    return own;
  }

  /** The CRM changes. */
  changes(change: (w: World) => void): void {
    change(this.w);
    this.w.write();
  }

  pass(ms: number): void {
    this.#time.passed += ms;
    writeFileSync(this.#clockFile, String(this.#time.passed));
  }

  get #clockFile(): string {
    return this.w.path("clock");
  }

  here(host: Host = hostOf(() => "a boot")): Where {
    return { ledger: this.w.path("ledger.db"), host };
  }

  /** Copies the ledger as it is now, to be started on another host. */
  copied(host: Host = elsewhere): Where {
    const folder = this.w.path("elsewhere");
    mkdirSync(folder);
    for (const ending of ["", "-wal", ".heads"]) {
      const from = this.w.path(`ledger.db${ending}`);
      if (existsSync(from)) cpSync(from, join(folder, `ledger.db${ending}`));
    }
    return { ledger: join(folder, "ledger.db"), host };
  }

  get #place(): Place {
    const { sandbox: _, ...place } = this.w.place;
    const environment = { ...place.environment, APP_SECRET, USER_PASSWORD };
    return { ...(this.w.extra.includes("oauth2") ? place : this.w.place), environment };
  }

  async run({ ledger, host, ahead = 0 }: Where, ...words: string[]): Promise<Ended> {
    this.pass(minute);
    const { monotonic, sleep, now } = this.w.clock;
    const clock = { monotonic, sleep, now: () => now() + ahead };
    return await crmSync({ ...this.#place, ledger, host, clock }, ...words);
  }

  /** Runs everything, and says what came of it. */
  async runs(where: Where): Promise<{ exit: number | null; sent: Record<string, number>; text: string }> {
    const { result, calls } = await this.w.writes(() => this.run(where, "run", "everything"));
    return { exit: result.exitCode, sent: calls, text: result.stdout };
  }

  /** What `settle list` shows. */
  async open(where: Where): Promise<Parsed[]> {
    return document(await this.run(where, "--json", "settle", "list"));
  }

  /** Runs everything in a process of its own, which stops itself at its E5. */
  async stops(at: PausedProgram["at"], trusting = false): Promise<Running> {
    this.changes(secondOrder);
    const wanted: PausedProgram = { boot: "a boot", clock: this.#clockFile, at, trusting };
    const program = [join(import.meta.dirname, "../../support/processes/paused.ts"), JSON.stringify(wanted)];
    const place = { ...this.#place, ledger: this.here().ledger, program };
    const running = startCrmSync(place, "run", "everything");
    const { pid } = running.child;
    const isStopped = (): boolean => / T /u.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
    await until("the program stopped itself", isStopped);
    return running;
  }

  get ordersPlaced(): number {
    return this.w.sandbox.counts().effects["E5"] ?? 0;
  }
}

const APP_SECRET = "sandbox-secret";
const USER_PASSWORD = "sandbox-password";

/** The services of the sandbox with tokens of its token endpoint. */
function services({ sandbox }: World): string {
  const { appKey, userName } = sandbox.credentials;
  const application = { tokenUrl: sandbox.tokenUrl, clientId: appKey, clientSecret: "env:APP_SECRET" };
  const authorization = { oauth2: { ...application, grant: "client_credentials" } };
  const userToken = {
    oauth2: { ...application, grant: "password", username: userName, password: "env:USER_PASSWORD" },
  };
  const profile = parse(readFileSync(join(import.meta.dirname, "../../../config/profiles/sandbox.yaml"), "utf8"));
  const baseUrl = sandbox.url;
  Object.assign(profile.orderService, { baseUrl, appKey, tokens: { authorization } });
  Object.assign(profile.memberCenter, { baseUrl, tokens: { authorization, userToken } });
  return stringify(profile);
}

const secondOrder = ({ orders }: World): void => void orders.push({ id: "O2", customer: "C1", assets: ["O2-A1"] });

async function goesOn(program: Running): Promise<Ended> {
  program.child.kill("SIGCONT");
  return await program.ended;
}

describe(
  "a program that was paused before the first byte of an order, and its ledger was started elsewhere",
  {
    tags: "long",
  },
  () => {
    it("sends a second order where the rule is off", async () => {
      const company = await TwoHosts.start("ending");
      const paused = await company.stops("before", true);
      const copy = company.copied(trustingHost);
      expect((await company.runs(copy)).sent).toMatchObject({ E5: 1 });
      company.pass(minute);
      await goesOn(paused);
      expect(company.ordersPlaced).toBe(3);
    });

    it("sends nothing once it has been paused for long; the other one waited until its token had ended", async () => {
      const company = await TwoHosts.start("ending");
      const paused = await company.stops("before");
      const copy = company.copied();
      const first = await company.runs(copy);
      expect([first.exit, first.sent]).toEqual([5, {}]);
      const [open] = await company.open(copy);
      expect(open).toMatchObject({ endpoint: "E5", state: "unknown" });
      expect(open.outcomeMessage).toContain(`not sent again before ${open.settleAfter}`);
      company.pass(tokenMs - 10 * minute);
      expect((await company.runs(copy)).sent).toEqual({});
      company.pass(20 * minute);
      expect((await company.runs(copy)).sent).toMatchObject({ E5: 1 });
      const { stdout, stderr } = await goesOn(paused);
      expect(company.ordersPlaced, stdout + stderr).toBe(2);
      expect((await company.runs(company.here())).exit).toBe(0);
      expect((await company.runs(copy)).exit).toBe(0);
      expect(company.ordersPlaced).toBe(2);
    });

    it("sends nothing once it has been paused for long, also where its token is good and a person had decided", async () => {
      const company = await TwoHosts.start("endless");
      const paused = await company.stops("before");
      const copy = company.copied();
      await company.runs(copy);
      const [{ id }] = await company.open(copy);
      company.pass(10 * minute);
      const words = ["--not-applied", "--reason", "that computer is gone", "--by", "anna"];
      expect((await company.run(copy, "settle", id, ...words)).exitCode).toBe(0);
      expect((await company.runs(copy)).sent).toMatchObject({ E5: 1 });
      const { stdout, stderr } = await goesOn(paused);
      expect(company.ordersPlaced, stdout + stderr).toBe(2);
    });

    it("sends it where it goes on soon, and the other one sees it", async () => {
      const company = await TwoHosts.start("ending");
      const paused = await company.stops("before");
      const copy = company.copied();
      expect((await company.runs(copy)).sent).toEqual({});
      expect((await goesOn(paused)).exitCode).toBe(0);
      const seen = await company.runs(copy);
      expect([seen.exit, seen.sent["E5"], company.ordersPlaced]).toEqual([0, undefined, 2]);
    });
  },
);

describe(
  "a program that was paused while it was writing an order, and its ledger was started elsewhere",
  {
    tags: "long",
  },
  () => {
    it("is refused by the service: the other one waited until its token had ended", async () => {
      const company = await TwoHosts.start("ending");
      const paused = await company.stops("writing");
      const copy = company.copied();
      expect((await company.runs(copy)).sent).toEqual({});
      company.pass(tokenMs + 5 * minute);
      expect((await company.runs(copy)).sent).toMatchObject({ E5: 1 });
      await goesOn(paused);
      expect(company.ordersPlaced).toBe(2);
      expect((await company.runs(company.here())).exit).toBe(0);
      expect(company.ordersPlaced).toBe(2);
    });

    it.each(["ending", "endless"] as const)(
      "is not waited for where the platform shows the order (%s token)",
      async (tokens) => {
        const company = await TwoHosts.start(tokens);
        const paused = await company.stops("written");
        await until("the order was placed", () => company.ordersPlaced === 2);
        const copy = company.copied();
        const seen = await company.runs(copy);
        expect([seen.exit, seen.sent["E5"]]).toEqual([0, undefined]);
        expect(await company.open(copy)).toEqual([]);
        expect((await goesOn(paused)).exitCode).toBe(0);
        expect(company.ordersPlaced).toBe(2);
      },
    );
  },
);

describe(
  "a program that was paused before the first byte of an order, on a file system that forgot its lock",
  {
    tags: "long",
  },
  () => {
    it("finds that another one has taken its ledger over: it sends nothing, and ends", async () => {
      const company = await TwoHosts.start("ending");
      const paused = await company.stops("before");
      const shared = company.here(elsewhere);
      rmSync(`${shared.ledger}.lock`);
      expect(await company.runs(shared)).toMatchObject({ exit: 5, sent: {} });
      company.pass(3 * minute);
      const { exitCode, stderr } = await goesOn(paused);
      expect([exitCode, company.ordersPlaced], stderr).toEqual([75, 1]);
      expect(stderr).toContain("another run has taken over the ledger");
      company.pass(tokenMs);
      expect(await company.runs(shared)).toMatchObject({ exit: 0, sent: { E5: 1 } });
    });
  },
);

describe("a program that was killed before the first byte of an order", { tags: "long" }, () => {
  it("is known to be dead on its own computer: the next run sends the order after the settle time", async () => {
    const company = await TwoHosts.start("endless");
    const killed = await company.stops("before");
    killed.child.kill("SIGKILL");
    await killed.ended;
    const next = await company.runs(company.here());
    expect([next.exit, next.sent["E5"], company.ordersPlaced]).toEqual([0, 1, 2]);
  });

  it("may be alive after a restart of the computer, which a copy of its disk may be: its token has to end", async () => {
    const company = await TwoHosts.start("ending");
    const killed = await company.stops("before");
    killed.child.kill("SIGKILL");
    await killed.ended;
    const restarted = company.here(elsewhere);
    expect(await company.runs(restarted)).toMatchObject({ exit: 5, sent: {} });
    company.pass(tokenMs + 5 * minute);
    expect(await company.runs(restarted)).toMatchObject({ exit: 0, sent: { E5: 1 } });
  });
});

/** A change of the CRM and the call that carries it out. */
const calls = {
  E2: ({ customers }) => void customers.push({ id: "C2" }),
  E4: ({ customers }) => void Object.assign(customers[0] ?? {}, { name: "Other Works" }),
  E5: secondOrder,
  M1: ({ staff }) => void staff.push({ id: "S9", customer: "C1", login: "nina" }),
  M2: ({ staff }) => void Object.assign(staff[0] ?? {}, { name: "Other Person" }),
  M9: ({ staff }) => void Object.assign(staff[0] ?? {}, { holds: [] }),
} as const satisfies Record<string, (w: World) => void>;

describe("a call that was left in the middle by a program on another computer", () => {
  /** The program stands still at the call; what was started elsewhere. */
  async function left(tokens: "ending" | "endless", call: keyof typeof calls, ahead = 0) {
    const company = await TwoHosts.start(tokens);
    if (ahead !== 0) company.pass(20 * tokenMs);
    company.changes(calls[call]);
    const stop = company.w.stopsAt(call);
    const paused = company.run({ ...company.here(), ahead }, "run", "everything");
    await stop.reached;
    const goesOn = async (): Promise<void> => {
      stop.goOn();
      await paused;
    };
    return { company, goesOn, copy: company.copied() };
  }

  it.each(["E2", "E4", "E5", "M1", "M2", "M9"] as const)(
    "is sent again after the end of its token, and not before (%s)",
    { tags: "long" },
    async (call) => {
      const { company, goesOn, copy } = await left("ending", call);
      const early = await company.runs(copy);
      expect([early.exit, early.sent]).toEqual([5, {}]);
      expect(await company.open(copy)).toMatchObject([{ endpoint: call, state: "unknown" }]);
      company.pass(tokenMs + 5 * minute);
      const late = await company.runs(copy);
      expect([late.exit, late.sent[call]], late.text).toEqual([0, 1]);
      await goesOn();
      expect(Object.values(company.w.sandbox.duplicates()).flat()).toEqual([]);
    },
  );

  it.each(["E2", "E4", "E5", "M1", "M2", "M9"] as const)(
    "waits for a person where nobody knows when its token ends (%s)",
    { tags: "long" },
    async (call) => {
      const { company, goesOn, copy } = await left("endless", call);
      const first = await company.runs(copy);
      expect([first.exit, first.sent]).toEqual([5, {}]);
      const [open] = await company.open(copy);
      expect(open).toMatchObject({ endpoint: call, state: "parked" });
      expect(open.outcomeMessage).toContain("before a person has decided");
      const says = async (): Promise<Ended> =>
        await company.run(
          copy,
          "settle",
          open.id,
          "--not-applied",
          "--reason",
          "that computer is gone",
          "--by",
          "anna",
        );
      expect(await says()).toMatchObject({
        exitCode: 64,
        stderr: expect.stringContaining("can still take effect until"),
      });
      company.pass(24 * 60 * minute);
      expect(await company.runs(copy)).toMatchObject({ exit: 5, sent: {} });
      expect((await says()).exitCode).toBe(0);
      const next = await company.runs(copy);
      expect([next.exit, next.sent[call]], next.text).toEqual([0, 1]);
      await goesOn();
    },
  );

  it("need not wait for its token where a person decides", async () => {
    const { company, goesOn, copy } = await left("ending", "E5");
    expect(await company.runs(copy)).toMatchObject({ exit: 5, sent: {} });
    const [{ id, outcomeMessage, settleAfter }] = await company.open(copy);
    expect(outcomeMessage).toContain(`may only be paused: it is not sent again before ${settleAfter}`);
    company.pass(10 * minute);
    expect(await company.runs(copy)).toMatchObject({ exit: 5, sent: {} });
    const words = ["--not-applied", "--reason", "that computer is gone", "--by", "anna"];
    expect((await company.run(copy, "settle", id, ...words)).exitCode).toBe(0);
    expect(await company.runs(copy)).toMatchObject({ exit: 0, sent: { E5: 1 } });
    await goesOn();
  });

  it.each(["E4", "E5"] as const)("is not sent again by a clock that is ahead of the services (%s)", async (call) => {
    const { company, goesOn, copy } = await left("ending", call);
    const ahead = { ...copy, ahead: 3 * tokenMs };
    for (let run = 0; run < 8; run += 1) expect(await company.runs(ahead)).toMatchObject({ exit: 5, sent: {} });
    await goesOn();
    const seen = await company.runs(copy);
    expect(Object.values(company.w.sandbox.duplicates()).flat(), seen.text).toEqual([]);
  });

  it.each([
    [10, "before the next run"],
    [10, "after the next run"],
    [-10, "never"],
  ])(
    "is sent again after the end of its token where the clock of that computer was %i years ahead, which is corrected %s",
    async (years, corrected) => {
      const { company, goesOn, copy } = await left("ending", "E5", years * 366 * 24 * 60 * minute);
      const correct = async (when: string): Promise<void> => {
        if (corrected !== when) return;
        expect((await company.run(copy, "clock", "correct", "--reason", "a new battery")).exitCode).toBe(0);
      };
      await correct("before the next run");
      expect(await company.runs(copy)).toMatchObject({ exit: 5, sent: {} });
      await correct("after the next run");
      company.pass(tokenMs - 10 * minute);
      expect(await company.runs(copy)).toMatchObject({ exit: 5, sent: {} });
      company.pass(20 * minute);
      const late = await company.runs(copy);
      expect(late.sent, late.text).toMatchObject({ E5: 1 });
      await goesOn();
      expect(company.ordersPlaced).toBe(2);
    },
  );
});
