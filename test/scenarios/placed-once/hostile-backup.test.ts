import { createHash, generateKeyPairSync } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { verifierKey } from "../../../src/ledger/audit/checkpoint.ts";
import { world, type Parsed, type World } from "../../support/cli.ts";
import { changeFile } from "../../support/world/start.ts";

/** The enterprise of each of two customers is recorded for the other one. */
const swapped = `
  create temp table was as select customer_id, enterprise_global_id from link where to_at is null;
  update link set enterprise_global_id = customer_id where to_at is null;
  update link set enterprise_global_id = (select was.enterprise_global_id from was
    where was.customer_id <> link.customer_id) where to_at is null`;

const people = "update staff_link set member_global_id = '6300000000000000099' where staff_id = 'S1-1'";

/** Every record is worked on again as soon as one changes. */
const trigger = "create trigger looked_at after update on record begin update record set pending = 1; end";

/** Approves by itself what a person is asked. */
const approving = "after insert on hold begin update hold set state = 'approved' where id = new.id; end";

const foreign: [what: string, sql: string, code: string][] = [
  ["two swapped enterprises", swapped, "links-changed"],
  ["another account of a person", people, "links-changed"],
  ["a trigger", trigger, "schema-changed"],
  ["a table", "create table beside (id integer)", "schema-changed"],
  ["a trigger that does less", "drop trigger record_looked_at", "schema-changed"],
  ["a guard that is gone", "drop trigger closed_file_refuses_update", "guard-missing"],
];

/** No statement makes a trigger of such a name; it is written into the bytes of the file. */
function hideTrigger(path: string): void {
  changeFile(path, `create trigger hidden_by ${approving};pragma journal_mode = delete`);
  const bytes = readFileSync(path);
  for (let at = bytes.indexOf("hidden_by"); at >= 0; at = bytes.indexOf("hidden_by")) bytes.write("sqlite_by", at);
  writeFileSync(path, bytes);
}

interface Made {
  path: string;
  manifest: Parsed;
}

async function lived(extra = ""): Promise<World> {
  const w = await world();
  w.extra = extra;
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  return w;
}

const backedUp = async (w: World): Promise<Made> => await w.ask("backup", "--to", w.path("backups"));

const manifestOf = ({ path }: Made): string => path.replace(/\.db$/u, ".json");

/** Writes a manifest that fits the copy as it is now, as somebody could who may write in the folder of backups. */
function forge(made: Made, changes: Record<string, unknown> = {}): void {
  const bytes = readFileSync(made.path);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const { size } = statSync(made.path);
  writeFileSync(manifestOf(made), JSON.stringify({ ...made.manifest, bytes: size, sha256, ...changes }));
}

/** What a restore says; the ledger that stands there is as it was. */
async function refusedBy(w: World, { path }: Made, ...words: string[]): Promise<unknown> {
  const before = readFileSync(w.path("ledger.db"));
  const { exitCode, stdout } = await w.run("--json", "restore", path, ...words);
  expect(exitCode).toBe(65);
  expect(readFileSync(w.path("ledger.db")).equals(before)).toBe(true);
  const { error } = JSON.parse(stdout);
  return error;
}

describe("a backup that somebody edited", () => {
  it.each(foreign)("with %s is not put back, and is found in the ledger itself", async (_what, sql, code) => {
    const w = await lived();
    const made = await backedUp(w);
    changeFile(made.path, `${sql};pragma journal_mode = delete`);
    forge(made);
    expect(await refusedBy(w, made)).toMatchObject({ code: "backup.changed", message: expect.stringContaining(code) });
    w.tamper(sql);
    const verified = await w.run("audit", "verify");
    expect([verified.exitCode, verified.stdout]).toEqual([65, expect.stringContaining(code)]);
    expect((await w.run("backup", "--to", w.path("backups"))).exitCode).toBe(65);
  });

  it("with a trigger that has a name of SQLite's own is not put back, and is found in the ledger itself", async () => {
    const w = await lived();
    const made = await backedUp(w);
    hideTrigger(made.path);
    forge(made);
    const code = "schema-changed";
    expect(await refusedBy(w, made)).toMatchObject({ code: "backup.changed", message: expect.stringContaining(code) });
    hideTrigger(w.path("ledger.db"));
    const verified = await w.run("audit", "verify");
    expect([verified.exitCode, verified.stdout]).toEqual([65, expect.stringContaining(code)]);
  });

  it("with another schema, or a manifest that says otherwise how far it is, is not put back", async () => {
    const w = await lived();
    const made = await backedUp(w);
    forge(made, { commits: made.manifest.commits + 1 });
    expect(await refusedBy(w, made)).toMatchObject({ code: "backup.changed" });
    forge(made, { audit: { ...made.manifest.audit, sequence: made.manifest.audit.sequence - 1 } });
    expect(await refusedBy(w, made)).toMatchObject({ code: "backup.changed" });
    forge(made, { schema: 2 });
    expect(await refusedBy(w, made)).toMatchObject({ code: "backup.unknown-version" });
    changeFile(made.path, "pragma user_version = 2;pragma journal_mode = delete");
    forge(made);
    expect((await w.run("restore", made.path)).exitCode).toBe(65);
  });
});

const keyOf = (): { pem: string; verifier: (ledger: string) => string } => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ format: "pem", type: "pkcs8" });
  return { pem, verifier: (ledger) => verifierKey(`crm-sync/${ledger}`, privateKey) };
};

describe("where audit.signKey is configured", () => {
  const signing = "audit: { signKey: env:AUDIT_KEY }\n";

  it("a backup is put back that the key signed, and none that is unsigned, changed or signed by another key", async () => {
    const w = await world();
    const [own, other] = [keyOf(), keyOf()];
    w.extra = signing;
    w.write();
    w.environment["AUDIT_KEY"] = own.pem;
    await w.run("run", "everything");
    const made = await backedUp(w);
    const signed = readFileSync(manifestOf(made), "utf8");
    writeFileSync(manifestOf(made), JSON.stringify({ ...made.manifest, signature: undefined }));
    expect(await refusedBy(w, made)).toMatchObject({ code: "backup.not-signed" });
    for (const change of [{ at: "2020-01-01T00:00:00.000Z" }, { program: "9" }, { periods: ["a".repeat(64)] }]) {
      writeFileSync(manifestOf(made), JSON.stringify({ ...made.manifest, ...change }));
      expect(await refusedBy(w, made)).toMatchObject({ code: "backup.not-signed" });
    }
    writeFileSync(manifestOf(made), signed);
    w.environment["AUDIT_KEY"] = other.pem;
    expect(await refusedBy(w, made)).toMatchObject({ code: "backup.not-signed" });
    expect((await w.run("restore", made.path, "--key", own.verifier(made.manifest.ledger))).exitCode).toBe(0);
    w.environment["AUDIT_KEY"] = own.pem;
    expect((await w.run("restore", made.path)).exitCode).toBe(0);
    delete w.environment["AUDIT_KEY"];
    expect((await w.run("backup", "--to", w.path("backups"))).exitCode).not.toBe(0);
  });

  it("backups that somebody else made count for nothing where older ones are removed", async () => {
    const w = await lived();
    const foreigners = [await backedUp(w), await backedUp(w)];
    w.extra = signing;
    w.write();
    w.environment["AUDIT_KEY"] = keyOf().pem;
    const first = await backedUp(w);
    const { removed } = await w.ask("backup", "--to", w.path("backups"), "--keep", "2");
    expect(removed).toEqual([]);
    for (const { path } of [...foreigners, first]) expect(statSync(path).isFile()).toBe(true);
  });
});
