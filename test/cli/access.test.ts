import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { sha256 } from "../../src/base/canonical-json.ts";
import { openInquiry } from "../../src/inquiry/inquiry.ts";
import { newSandbox, openLedger } from "../support/world/start.ts";
import { anyGroup, runAs, whyNotAsNobody } from "../support/as-user.ts";
import type { Line } from "../support/as-user.ts";
import { world } from "../support/cli.ts";
import type { World } from "../support/cli.ts";
import { crmSync } from "../support/program.ts";
import type { Ended, Place } from "../support/program.ts";

/** What may be done with a folder, and every file and folder under it, by its path: kind, mode and group. */
function rightsUnder(path: string, name = ""): Record<string, string> {
  const now = statSync(path);
  const kind = now.isDirectory() ? "folder" : "file";
  const own = { [name]: `${kind} ${(now.mode & 0o777).toString(8)} ${now.gid}` };
  if (kind === "file") return own;
  return Object.assign(own, ...readdirSync(path).map((one) => rightsUnder(join(path, one), join(name, one))));
}

function withUmask<T>(mask: number, work: () => Promise<T>): Promise<T> {
  const before = process.umask(mask);
  return work().finally(() => process.umask(before));
}

interface Written {
  w: World;
  ledger: string;
  place: Place;
  run: (...words: string[]) => Promise<Ended>;
}

/** A ledger in a folder that is not there yet, with everything beside it that the program writes. */
async function written(mask: number, group?: string): Promise<Written> {
  const w = await world();
  const ledger = w.path("state/here/ledger.db");
  const environment: Record<string, string> = {
    SEAL_KEY: w.environment["SEAL_KEY"] ?? "",
    ...(group === undefined ? {} : { CRM_SYNC__ledger__group: group }),
  };
  const place = { ...w.place, ledger, environment };
  const there: Written["run"] = (...words) => crmSync(place, ...words);
  await withUmask(mask, async () => {
    expect((await there("run", "everything")).exitCode).toBe(0);
    expect((await there("run", "monthly-report")).exitCode).toBe(0);
    await there("plan", "--out", join(ledger, "../plan.ndjson"));
    await there("audit", "export", "--out", join(ledger, "../audit.ndjson"));
    await there("report", "orders", "--period", "2026-10", "--out", join(ledger, "../orders.csv"));
  });
  return { w, ledger, place, run: there };
}

const names = ["", "-wal", "-shm", ".heads", ".lock"].map((suffix) => `here/ledger.db${suffix}`);

describe("what the program writes", () => {
  it(
    "is for its owner alone, also where an older version left it open; folders that were there stay as they are",
    { tags: "long" },
    async () => {
      const { w, ledger, place, run: there } = await written(0o022);
      const rights = rightsUnder(w.path("state"));
      expect(Object.keys(rights)).toEqual(expect.arrayContaining([...names, "here/plan.ndjson", "here/audit.ndjson"]));
      expect(Object.keys(rights).filter((name) => name.startsWith("here/reports/")).length).toBeGreaterThan(0);
      expect([...new Set(Object.values(rights))].sort()).toEqual([
        `file 600 ${process.getgid?.()}`,
        `folder 700 ${process.getgid?.()}`,
      ]);

      const store = w.path("sandbox.db");
      const sandbox = await withUmask(0, () => newSandbox({ store }));
      expect(readdirSync(w.folder).filter((name) => name.startsWith("sandbox.db")).length).toBeGreaterThan(1);
      for (const suffix of ["", "-wal"]) expect(statSync(store + suffix).mode & 0o777, suffix).toBe(0o600);
      await sandbox.close();

      const beside = ["", ".heads", ".lock"].map((suffix) => ledger + suffix);
      for (const file of beside) chmodSync(file, 0o644);
      chmodSync(w.path("state"), 0o755);
      await there("run", "everything");
      expect(beside.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
      expect(statSync(w.path("state")).mode & 0o777).toBe(0o755);

      const out = w.path("no/such/folder/orders.csv");
      const refused = await there("report", "orders", "--period", "2026-10", "--out", out);
      expect(refused.exitCode).toBe(64);
      expect(refused.stderr).toContain(`there is no folder ${w.path("no/such/folder")}`);
      expect(existsSync(w.path("no"))).toBe(false);

      const other = { ...place.environment, CRM_SYNC__ledger__group: "no-such-group" };
      const wrong = await crmSync({ ...place, environment: other }, "run", "everything");
      expect(wrong.exitCode).toBe(78);
      expect(wrong.stderr).toContain('ledger.group names "no-such-group", and this system has no group of that name');
    },
  );

  it(
    "is for the group that ledger.group names too, under umask 000; a plan is for who made it",
    { tags: "long" },
    async () => {
      const group = anyGroup();
      const { w } = await written(0o000, group.name);
      const { "here/plan.ndjson": plan, ...rights } = rightsUnder(w.path("state"));
      expect(Object.keys(rights)).toEqual(expect.arrayContaining(names));
      expect([...new Set(Object.values(rights))].sort()).toEqual([`file 640 ${group.id}`, `folder 750 ${group.id}`]);
      expect(plan).toContain("file 600");
    },
  );
});

describe("a reader", () => {
  it(
    "who waits until stdout is read holds no state of the ledger, so that its log can be emptied",
    { tags: "long" },
    async () => {
      const { ledger, place } = await written(0o022);
      for (const words of [
        ["report", "reconciliation", "--period", "2026-11"],
        ["audit", "export"],
      ]) {
        let isRead = false;
        let goOn = (): void => {};
        const first = Promise.withResolvers<void>();
        const read = vi.fn((_: string | Buffer, done?: () => void) => {
          goOn = () => done?.();
          first.resolve();
          return isRead;
        });
        const ended = crmSync({ ...place, stdout: { write: read } }, ...words);
        await first.promise;
        const writer = new Database(ledger);
        writer.pragma("busy_timeout = 0");
        writer.exec("create table if not exists another (value text); insert into another values ('x')");
        expect(writer.pragma("wal_checkpoint(truncate)")).toEqual([{ busy: 0, log: 0, checkpointed: 0 }]);
        writer.close();
        isRead = true;
        goOn();
        expect((await ended).exitCode).toBe(0);
      }
    },
  );

  it.runIf(existsSync("/proc/locks"))(
    "in a process that has the ledger open leaves the locks on it alone",
    async () => {
      const { ledger } = await openLedger();
      // Other processes may lock a file of the same number on another device.
      const file = new RegExp(` ${process.pid} \\S+:${statSync(ledger.path).ino} `, "u");
      // The list is read in pieces: where others lock and unlock meanwhile, a line stands twice or not at all.
      const locks = (): Set<string> =>
        new Set(
          readFileSync("/proc/locks", "utf8")
            .split("\n")
            .filter((line) => file.test(line))
            .map((line) => line.slice(line.indexOf("POSIX"))),
        );
      const before = await vi.waitFor(() => {
        const found = locks();
        expect(found.size).toBeGreaterThan(0);
        return found;
      });
      const inquiry = openInquiry(ledger.path);
      await inquiry.status();
      inquiry.close();
      const second = await openLedger({ path: ledger.path });
      second.ledger.close();
      await vi.waitFor(() => expect(locks()).toEqual(before));
    },
  );
});

const closedToNobody = whyNotAsNobody() ?? (process.getuid?.() === 0 ? undefined : "only root may become another user");

describe.runIf(closedToNobody !== undefined)("another user", () => {
  it(`is NOT tried here, nothing is shown about it: ${closedToNobody}`, () => expect(closedToNobody).toBeDefined());
});

/** What lies in a folder: names, rights, sizes and contents. `-shm` holds the marks of readers, and is no content. */
function contents(folder: string): Record<string, string> {
  const of = (name: string): string => {
    const now = statSync(join(folder, name));
    const bytes = now.isFile() && !name.endsWith("-shm") ? sha256(readFileSync(join(folder, name), "latin1")) : "";
    return `${now.mode.toString(8)} ${now.uid} ${now.gid} ${now.size} ${bytes}`;
  };
  return Object.fromEntries(readdirSync(folder).map((name) => [name, of(name)]));
}

describe.runIf(closedToNobody === undefined)("another user", () => {
  it(
    "of ledger.group reads without a secret and without a right to write, with the daemon up, down, killed, and from a bare backup",
    { tags: "long" },
    async () => {
      const group = anyGroup();
      const { w, ledger, run: there } = await written(0o022, group.name);
      appendFileSync(w.path("data/customers.ndjson"), '{"id":"bad-1"}\n');
      expect((await withUmask(0o022, () => there("run", "everything"))).exitCode).toBe(3);
      const reading = new Database(ledger, { readonly: true });
      const bad = reading.prepare<[], string>("select id from quarantine").pluck().get() ?? "";
      reading.close();
      const down = join(ledger, "..");
      chmodSync(w.folder, 0o711);
      chmodSync(w.path("state"), 0o755);
      const places = { down, up: w.path("state/up"), killed: w.path("state/killed"), bare: w.path("state/bare") };
      const lay = (place: string, suffixes: readonly string[], from = down): void => {
        mkdirSync(place, { mode: 0o750 });
        chownSync(place, -1, group.id);
        for (const suffix of suffixes) {
          copyFileSync(join(from, `ledger.db${suffix}`), join(place, `ledger.db${suffix}`));
          chownSync(join(place, `ledger.db${suffix}`), -1, group.id);
          chmodSync(join(place, `ledger.db${suffix}`), 0o640);
        }
      };
      lay(places.up, ["", ".heads"]);
      lay(places.bare, ["", ".heads"]);
      const daemon = await openLedger({ path: join(places.up, "ledger.db"), group });
      await daemon.ledger.audit.append({ kind: "note", subject: "s", body: {} });
      lay(places.killed, ["", ".heads", "-wal", "-shm"], places.up);
      const busy = new Database(join(places.up, "ledger.db"));
      onTestFinished(() => void busy.close());
      busy.exec("begin immediate");
      expect(statSync(join(places.killed, "ledger.db-wal")).size).toBeGreaterThan(0);
      expect(readdirSync(down)).toEqual(expect.arrayContaining(["ledger.db-shm", "ledger.db-wal"]));

      const questions = [
        ["status"],
        ["runs"],
        ["run", "show", "last"],
        ["explain", "customer", w.customers[0]?.id ?? ""],
        ["quarantine", "list"],
        ["quarantine", "show", bad],
        ["quarantine", "show", bad, "--raw"],
        ["settle", "list"],
        ["report", "orders", "--period", "2026-10"],
        ["audit", "verify", "--within", "9999d"],
        ["audit", "export"],
        ["audit", "head"],
      ];
      const lineOf = (place: string, words: string[]): Line => ({
        words: [`--config=${w.path("crm-sync.yaml")}`, `--sandbox=${w.sandbox.url}`, ...words],
        environment: { CRM_SYNC__ledger__path: join(place, "ledger.db"), CRM_SYNC__ledger__group: group.name },
      });
      const few = questions.filter((words) => /status|explain|verify/u.test(words.join(" ")));
      const asked = Object.entries(places).flatMap(([name, place]) =>
        (name === "up" || name === "down" ? questions : few).map((words) => ({ place, words })),
      );
      const before = Object.values(places).map(contents);
      const member = { uid: 54_321, gid: group.id, groups: [] };
      const answers = await runAs(member, [
        ...asked.map(({ place, words }) => lineOf(place, words)),
        lineOf(down, ["run", "everything"]),
        {
          ...lineOf(down, ["migrate"]),
          environment: { SEAL_KEY: w.environment["SEAL_KEY"] ?? "", CRM_SYNC__ledger__path: join(down, "ledger.db") },
        },
        {
          ...lineOf(down, ["migrate"]),
          environment: {
            SEAL_KEY: w.environment["SEAL_KEY"] ?? "",
            CRM_SYNC__ledger__path: w.path("state/new/ledger.db"),
          },
        },
      ]);
      asked.forEach(({ place, words }, index) =>
        expect.soft(answers[index]?.code, `${place} ${words.join(" ")}\n${answers[index]?.said}`).toBe(0),
      );
      expect(Object.values(places).map(contents)).toEqual(before);
      const saidOf = (place: string, words: string): string =>
        answers[asked.findIndex((one) => one.place === place && one.words.join(" ") === words)]?.said ?? "";
      // What was committed since the log was emptied last is read from the log.
      const entries = (place: string): number =>
        Number(/good: (\d+) entries/u.exec(saidOf(place, "audit verify --within 9999d"))?.[1]);
      expect([entries(places.up), entries(places.killed)]).toEqual([entries(down) + 1, entries(down) + 1]);
      expect(entries(places.bare)).toBe(entries(down));
      for (const place of Object.values(places))
        expect(saidOf(place, "explain customer C1")).toContain("customer crm/C1: is the enterprise 61");

      const [secret, existing, fresh] = answers.slice(-3);
      expect([secret?.code, existing?.code, fresh?.code]).toEqual([78, 78, 78]);
      expect(secret?.said).toContain("needs env:SEAL_KEY, which is not set");
      expect(existing?.said).toContain(`ledger.path is ${join(down, "ledger.db")}, which this user cannot write`);
      expect(fresh?.said).toContain(`ledger.path is ${w.path("state/new/ledger.db")}, which this user cannot write`);
      for (const { said } of answers.slice(-3)) expect(said).not.toMatch(/defect|\n\s+at /u);

      const [stranger] = await runAs({ uid: 54_321, gid: 54_321, groups: [] }, [lineOf(down, ["status"])]);
      expect([stranger?.code, stranger?.said]).toEqual([65, expect.stringContaining("cannot be read by this user")]);
    },
  );
});
