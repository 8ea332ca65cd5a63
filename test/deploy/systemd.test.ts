/** @module-tag long */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { exitCodes } from "../../src/base/errors.ts";
import { until, world } from "../support/cli.ts";
import { startCrmSync } from "../support/process.ts";
import { company } from "../support/world/crm.ts";
import { folder } from "../support/world/start.ts";

const unit = join(import.meta.dirname, "../../deploy/systemd/crm-sync.service");

/** The settings of the unit, each with all its values, by section. */
function settingsOf(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  let section = "";
  for (const line of text.split("\n")) {
    section = /^\[(\w+)\]$/u.exec(line)?.[1] ?? section;
    const [, key, value] = /^(\w+)=(.*)$/u.exec(line) ?? [];
    if (key === undefined || value === undefined) continue;
    const path = `${section}.${key}`;
    found.set(path, [...(found.get(path) ?? []), value]);
  }
  return found;
}

const settings = settingsOf(readFileSync(unit, "utf8"));
const there = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;
const everyMinute = `serve: { port: 0 }
jobs:
  everything: { kind: sync, streams: [customers, orders, staff], schedule: "* * * * *" }
`;

/** The unit with a program that is there, as a file that systemd-analyze takes. */
function withProgram(): string {
  const path = join(folder(), "crm-sync.service");
  writeFileSync(path, readFileSync(unit, "utf8").replace(/^ExecStart=.*$/mu, "ExecStart=/bin/true"));
  return path;
}

describe("the unit for systemd", () => {
  it("starts `serve` as a user of its own, lets it end its calls, and does not start again what a person has to look at", () => {
    expect(Object.fromEntries(settings)).toMatchObject({
      "Service.Type": ["exec"],
      "Service.ExecStart": [expect.stringMatching(/^\/\S+\/crm-sync --config \S+ serve$/u)],
      "Service.User": ["crm-sync"],
      "Service.KillSignal": ["SIGTERM"],
      "Service.KillMode": ["mixed"],
      "Service.Restart": ["on-failure"],
      "Service.StateDirectory": ["crm-sync"],
      "Service.StateDirectoryMode": ["0700"],
      "Service.UMask": ["0077"],
      "Service.LimitCORE": ["0"],
      "Install.WantedBy": ["multi-user.target"],
    });
    const refused = [exitCodes.usage, exitCodes.ledgerRefused, exitCodes.configuration];
    expect(settings.get("Service.RestartPreventExitStatus")).toEqual([refused.join(" ")]);
    // A call takes 90 s at most, and what comes after it 5 s.
    expect(Number(settings.get("Service.TimeoutStopSec")?.[0])).toBeGreaterThanOrEqual(95);
  });

  it("may write its state alone, gains no right, and speaks to networks and nothing else", () => {
    const wanted = {
      ProtectSystem: "strict",
      ProtectHome: "yes",
      PrivateTmp: "yes",
      PrivateDevices: "yes",
      NoNewPrivileges: "yes",
      CapabilityBoundingSet: "",
      RestrictAddressFamilies: "AF_UNIX AF_INET AF_INET6",
      RestrictSUIDSGID: "yes",
      SystemCallArchitectures: "native",
      // Machine code is made while the program runs.
      MemoryDenyWriteExecute: "no",
    };
    for (const [key, value] of Object.entries(wanted)) expect(settings.get(`Service.${key}`), key).toEqual([value]);
    expect(settings.get("Service.SystemCallFilter")?.[0]).toBe("@system-service");
    expect(settings.has("Service.ReadWritePaths")).toBe(false);
  });

  it("hands over secrets as credentials, and holds none itself", () => {
    const credentials = settings.get("Service.LoadCredential") ?? [];
    expect(credentials.length).toBeGreaterThan(0);
    for (const credential of credentials) expect(credential).toMatch(/^([a-z-]+):\/etc\/crm-sync\/secrets\/\1$/u);
    expect(settings.get("Service.Environment")).toEqual(["CRM_SYNC__ledger__path=/var/lib/crm-sync/ledger.db"]);
  });

  const lint = there("systemd-analyze");
  const unread = "is NOT tried by systemd-analyze here, which is not installed: its grammar is not shown";
  const taken = "is one that systemd takes without a remark, and that it counts as well closed off";
  it(lint ? taken : unread, () => {
    if (!lint) return;
    const path = withProgram();
    const verified = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" });
    expect(verified).toMatchObject({ status: 0, stderr: "", stdout: "" });
    // In tenths: 20 is an exposure of 2.0 of 10.
    const closed = spawnSync("systemd-analyze", ["security", "--offline=yes", "--threshold=20", "--no-pager", path]);
    expect(closed.status, closed.stdout.toString()).toBe(0);
  });

  const trace = lint && there("strace");
  const untraced = "is NOT tried with strace here: which system calls `serve` makes is not shown";
  const through = "lets every system call through that `serve` makes in a run";
  it(trace ? through : untraced, async () => {
    if (!trace) return;
    const w = await world({ records: company(1, 1) });
    w.extra = everyMinute;
    w.write();
    w.tamper(
      "insert into last_fire_time (job, fire_time, fired_at) values ('everything', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')",
    );
    const calls = w.path("calls.txt");
    const serving = startCrmSync({ ...w.place, under: ["strace", "-f", "-qq", "-o", calls] }, "serve");
    await until("the run is done", () => w.rows("select id from run where state = 'done'").length > 0);
    const pid = /^(\d+)/u.exec(readFileSync(calls, "utf8"))?.[1];
    process.kill(Number(pid), "SIGTERM");
    await serving.ended;
    const made = new Set([...readFileSync(calls, "utf8").matchAll(/^\d+\s+(\w+)\(/gmu)].map(([, name = ""]) => name));
    expect(made.size).toBeGreaterThan(30);
    const allowed = allowedCalls(settings.get("Service.SystemCallFilter") ?? []);
    expect([...made].filter((name) => !allowed.has(name))).toEqual([]);
  });
});

/** System calls that filters of a unit let through: the first says what is allowed, each other adds or (`~`) takes. */
function allowedCalls(filters: readonly string[]): Set<string> {
  const allowed = callsOf("@default");
  for (const filter of filters)
    for (const name of filter.replace("~", "").split(" "))
      for (const call of callsOf(name)) {
        if (filter.startsWith("~")) allowed.delete(call);
        else allowed.add(call);
      }
  return allowed;
}

function callsOf(name: string): Set<string> {
  if (!name.startsWith("@")) return new Set([name]);
  const text = execFileSync("systemd-analyze", ["syscall-filter", "--no-pager", name], { encoding: "utf8" });
  const names = [...text.matchAll(/^ {4}(@?[\w-]+)/gmu)].map(([, item = ""]) => item);
  return new Set(names.flatMap((item) => [...callsOf(item)]));
}
