import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { fetch } from "undici";
import { parseDocument } from "yaml";
import { type Company, beginning, everything, exported, twoSources } from "./company.ts";
import { learnNames } from "./names.ts";
import { type Json, member, parseExactly, text } from "./operations.ts";
import { platformState } from "./platform.ts";
import { type Call, type Cut, type Recorder, startRecorder } from "./recorder.ts";
import { stabiliser } from "./stable.ts";

export const project = join(import.meta.dirname, "../..");
let program = join(project, "bin/crm-sync");
const roomy = "--min-semi-space-size=64 --max-semi-space-size=64";
const minute = 60_000;

/**
 * Makes the bundle, and has the program start where no source is beside it, as a package does, and with room for its
 * heap: it starts sooner.
 */
export function install(folder: string): void {
  execFileSync(program, ["--version"]);
  mkdirSync(join(folder, "bin"), { recursive: true });
  for (const name of ["dist", "node_modules"]) symlinkSync(join(project, name), join(folder, name));
  const installed = join(folder, "bin/crm-sync");
  const launcher = readFileSync(program, "utf8").replace(/--min-semi.*--heap-growing-percent=100/u, roomy);
  writeFileSync(installed, launcher, { mode: 0o755 });
  program = installed;
}

/** Both services, as `crm-sync sandbox` has them. */
export interface Platform {
  child: ChildProcess;
  url: string;
}

/** A life of a company: what happens, told to the one who lives it. */
export interface Life {
  name: string;
  live(life: Living): Promise<void>;
}

/** How a command line ended. `json` has the documents that it printed. */
export interface Ended {
  exit: number | string;
  json: Json[];
  stdout: string;
}

interface Step {
  /** As calls count it. */
  number: number;
  command: string;
  at: number;
  exit: number | string;
  json: Json[];
}

export class Living {
  readonly folder: string;
  readonly company: Company = { customers: [], orders: [], staff: [] };
  /** The configuration: what stands before the sources, the sources, and what comes after. */
  configuration = { beginning, sources: twoSources, jobs: everything, more: "" };
  /** Secrets, as environment variables. */
  environment: Record<string, string> = { SEAL_KEY: "a sealing key of some length" };
  /**
   * What is set in the configuration beside what it says, by path: `policies.orders.ended`. Customers are served one
   * after another, so that entries of the audit log have one order.
   */
  settings: Record<string, Json> = {
    "settle.timeMs": 50,
    "settle.readings": 2,
    "concurrency.customers": 1,
    "orderService.callsAtOnce": 1,
    "orderService.backoffBaseMs": 5,
    "memberCenter.callsAtOnce": 1,
    "memberCenter.backoffBaseMs": 5,
  };
  readonly #sandbox: Platform;
  readonly #recorder: Recorder;
  #configuration = "";
  readonly #steps: Step[] = [];
  readonly #ends: (() => Promise<void>)[] = [];
  #at = Date.parse("2026-03-02T08:00:00Z");

  constructor(folder: string, sandbox: Platform, recorder: Recorder) {
    this.folder = folder;
    this.#sandbox = sandbox;
    this.#recorder = recorder;
    recorder.now = () => this.#at;
  }

  /** Begins a life on a sandbox that forgets what it held. */
  static async begin(folder: string, sandbox: Platform): Promise<Living> {
    mkdirSync(folder, { recursive: true });
    for (const [path, body] of [
      ["reset", {}],
      ["contradict", { rows: [] }],
    ] as const)
      await fetch(`${sandbox.url}/_sandbox/${path}`, { method: "POST", body: JSON.stringify(body) });
    return new Living(folder, sandbox, await startRecorder(sandbox.url));
  }

  async end(): Promise<void> {
    for (const end of this.#ends) await end();
    await this.#recorder.close();
  }

  /** The address at which the program finds both services. */
  get url(): string {
    return this.#recorder.url;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Writes a file of the life; folders are made. */
  put(name: string, content: string | Buffer): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), content);
  }

  /** Writes the configuration and the exports of the CRM as they are now. */
  write(): void {
    this.configure(Object.values(this.configuration).join(""));
    for (const [name, content] of Object.entries(exported(this.company))) this.put(`data/${name}`, content);
  }

  /** The configuration from now on, as a text of YAML. */
  configure(text: string): void {
    this.#configuration = text;
  }

  /** Time goes on between two commands: ten minutes by itself, and so many hours more. */
  later(hours: number): void {
    this.#at += hours * 60 * minute;
  }

  /**
   * Writes the CRM, then carries a command line out, ten minutes after the last one. Keeps exit code, calls and JSON.
   */
  async run(...words: string[]): Promise<Ended> {
    this.write();
    return await this.#keep(words, this.#start(words));
  }

  /** As `run`, without writing the exports: what stands in the files is the life's own. */
  async command(...words: string[]): Promise<Ended> {
    return await this.#keep(words, this.#start(words));
  }

  /** A command that only looks; what it prints is not kept. */
  async ask(...words: string[]): Promise<Json> {
    return documents(await said(this.#start(words).stdout))[0] ?? null;
  }

  /**
   * A run that is killed at a call: before it reaches the service, or after the service did it and before the answer.
   */
  async killedAt(cut: Omit<Cut, "act">, ...words: string[]): Promise<void> {
    this.write();
    const child = this.#start(words);
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
    this.#recorder.cut({
      ...cut,
      act: async () => {
        child.kill("SIGKILL");
        await ended;
      },
    });
    await this.#keep(words, child);
  }

  /** The answer of a call is lost: `after` the service did it, or `before` it heard of it. */
  loses(operation: string, when: "before" | "after" = "after", nth = 1): void {
    this.#recorder.cut({ operation, when, nth });
  }

  /**
   * Starts a command that goes on, such as `serve`, and resolves once it printed the text `until`. Ended with the life.
   * `said` is what it printed; `keep` adds what it showed elsewhere.
   */
  async starts(
    until: string,
    ...words: string[]
  ): Promise<{ stop: () => Promise<void>; said: () => string; keep: (shown: Json) => void }> {
    const child = this.#start(words);
    this.#ends.push(async () => void child.kill("SIGKILL"));
    let heard = "";
    await new Promise<void>((resolve, reject) => {
      const hear = (chunk: Buffer): void => {
        heard += chunk.toString();
        if (heard.includes(until)) resolve();
      };
      child.stdout?.on("data", hear);
      child.stderr?.on("data", hear);
      child.once("close", () => reject(new Error(`${words.join(" ")} ended: ${heard}`)));
    });
    const exit = new Promise<number | string>((resolve) =>
      child.once("close", (code, signal) => resolve(code ?? signal ?? "?")),
    );
    const number = this.#recorder.step;
    const step: Step = { number, command: words.join(" "), at: this.#at, exit: "?", json: [] };
    this.#steps.push(step);
    return {
      said: () => heard,
      keep: (shown) => void step.json.push(shown),
      stop: async () => {
        child.kill("SIGTERM");
        step.exit = await exit;
      },
    };
  }

  /** A service of the life's own, such as a CRM with an HTTP interface. Resolves with its address. */
  async serves(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.#ends.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Posts to the sandbox's own paths: `faults`, `hand`, `contradict`, `drop-orders`. Resolves with what it says. */
  async sandbox(path: string, body: Json): Promise<Json> {
    const response = await fetch(`${this.#sandbox.url}/_sandbox/${path}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return parseExactly(await response.text());
  }

  async noFaults(): Promise<void> {
    await fetch(`${this.#sandbox.url}/_sandbox/faults`, { method: "DELETE" });
  }

  /** The calls that the services got so far. */
  get calls(): readonly Call[] {
    return this.#recorder.calls;
  }

  /** Everything that is kept of this life, in stable words. */
  async whole(): Promise<Json> {
    const calls = [...this.#recorder.calls];
    const { state, reads } = await platformState(this.#sandbox.url, calls);
    const names = learnNames([...calls, ...reads]);
    const stable = stabiliser({ names: names.of, folder: this.folder, steps: this.#steps.map(({ at }) => at) });
    const steps = this.#steps.map((step): Json => {
      const made = calls.filter((call) => call.step === step.number);
      return {
        command: text(stable.exact(step.command)),
        exit: step.exit,
        ...(made.length === 0 ? {} : { calls: callsByCustomer(made, names.customerOf, stable.exact) }),
        ...(step.json.length === 0 ? {} : { json: step.json.map((one) => stable.facts(one)) }),
      };
    });
    return { steps, platform: stable.facts(state) };
  }

  get #options(): string[] {
    return ["--config", this.path("crm-sync.yaml"), `--sandbox=${this.#recorder.url}`];
  }

  #start(words: readonly string[]): ChildProcess {
    this.#at += 10 * minute;
    this.#recorder.step += 1;
    const whole = parseDocument(this.#configuration);
    for (const [path, value] of Object.entries(this.settings)) whole.setIn(path.split("."), value);
    this.put("crm-sync.yaml", String(whole));
    return spawn(program, [...this.#options, "--json", ...words], {
      cwd: this.folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...processEnvironment(this.#at), ...this.environment },
    });
  }

  async #keep(words: readonly string[], child: ChildProcess): Promise<Ended> {
    const at = this.#at;
    const number = this.#recorder.step;
    const closed = new Promise<number | string>((resolve) =>
      child.once("close", (code, signal) => resolve(code ?? signal ?? "?")),
    );
    const [printed, stderr] = await Promise.all([said(child.stdout), said(child.stderr)]);
    // What each suggested command says of this folder and this port is of no life.
    const stdout = printed.replaceAll(`crm-sync ${this.#options.join(" ")} `, "crm-sync ");
    const exit = await closed;
    const json = documents(stdout);
    this.#steps.push({ number, command: words.join(" "), at, exit, json });
    if (process.env["GOLDEN_TRACE"] === "1")
      process.stderr.write(`$ ${words.join(" ")} → ${exit}\n${stdout.slice(0, 3000)}\n${stderr.slice(0, 2000)}\n`);
    return { exit, json, stdout };
  }
}

async function said(stream: Readable | null): Promise<string> {
  return stream === null ? "" : await textOf(stream);
}

/**
 * Calls by customer and service in their order; reads between two writes are sorted, as they may be under way at once.
 */
function callsByCustomer(
  calls: readonly Call[],
  customerOf: (call: Call) => string,
  exact: (value: Json) => Json,
): Json {
  const kept: Record<string, Record<string, Json[]>> = {};
  for (const [customer, mine] of Map.groupBy(calls, customerOf)) {
    const services = [...Map.groupBy(mine, ({ service }) => service)].toSorted(([a], [b]) => (a < b ? 1 : -1));
    kept[customer] = Object.fromEntries(services.map(([service, all]) => [service, inOrder(all, exact)]));
  }
  return Object.fromEntries(Object.entries(kept).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function inOrder(calls: readonly Call[], exact: (value: Json) => Json): Json[] {
  const lines: Json[] = [];
  let reads: string[] = [];
  const flush = (): void => {
    lines.push(...reads.toSorted());
    reads = [];
  };
  for (const { operation, method, path, body } of calls) {
    const call = text(exact(`${operation} ${method} ${path}`));
    if (method === "GET") reads.push(call);
    else {
      flush();
      lines.push(body === null ? call : { call, body: exact(body) });
    }
  }
  flush();
  return lines;
}

function documents(stdout: string): Json[] {
  if (stdout.trim() === "") return [];
  try {
    return [parseExactly(stdout)];
  } catch {
    return stdout.split("\n").flatMap((line) => {
      if (line === "") return [];
      try {
        return [parseExactly(line)];
      } catch {
        return ["(text)"];
      }
    });
  }
}

/** The environment of a process of a life: its clock begins at `at`. */
function processEnvironment(at: number): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  const clock = join(import.meta.dirname, "clock.mjs");
  return {
    PATH,
    HOME,
    TMPDIR: process.env["TMPDIR"] ?? "/tmp",
    USER: "golden",
    LOGNAME: "golden",
    NODE_OPTIONS: `--import=${clock}`,
    GOLDEN_NOW: new Date(at).toISOString(),
  };
}

/** Both services in a process of their own, which lives are lived on one after another. */
export async function startSandbox(folder: string): Promise<Platform> {
  const child = spawn(program, ["--json", "sandbox", "--port", "0"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
    env: processEnvironment(Date.parse("2026-03-02T08:00:00Z")),
  });
  const first = await new Promise<string>((resolve, reject) => {
    let said = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
      if (said.includes("}")) resolve(said);
    });
    child.once("error", reject);
    child.once("close", () => reject(new Error(`the sandbox ended: ${said}`)));
  });
  return { child, url: text(member(parseExactly(first), "url")) };
}
