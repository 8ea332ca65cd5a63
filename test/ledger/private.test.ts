import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type JsonObject, parseJsonObject, sha256 } from "../../src/base/canonical-json.ts";
import { type Stream, privateFields } from "../../src/crm/model.ts";
import { commitmentTo, privatise, withMarkers } from "../../src/ledger/private/private.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { isPrivateMarker, privateMarker, type PrivateMarker } from "../../src/engine/model/references.ts";
import { doneWith, intend, problemOf, update } from "./opened.ts";
import { customerRecord, key, orderRecord, staffRecord } from "../support/world/records.ts";
import { openLedger, sealSecret, sqlite } from "../support/world/start.ts";

/** Stands in every private value; what must be found nowhere else. */
const canary = "Kanarienvogel";
const secretCanary = "Geheimkanarie";

function record(stream: Stream, id: string): JsonObject {
  const fields: JsonObject = { namespace: "crm", id };
  for (const field of privateFields[stream]) fields[field] = `${canary} ${field} ${id}`;
  if (stream === "customers") return { ...fields, customerType: "company", branchCode: "B", branchName: "Branch" };
  if (stream === "staff") return { ...fields, customerId: "C", password: `${secretCanary}-${id}`, assets: [] };
  return {
    ...fields,
    customerId: "C",
    cancelled: false,
    instances: [
      { kind: "asset", id: "A", licenseType: "cloud_account", assetNumbers: [], quantity: 1, extensions: [] },
      {
        kind: "product",
        id: "P",
        parentId: "A",
        name: "Product",
        features: [],
        extensions: [],
        passwords: [`${secretCanary}-1`, `${secretCanary}-2`],
      },
    ],
  };
}

async function ingest(ledger: Ledger, stream: Stream, id: string, fields: JsonObject = {}): Promise<void> {
  const read = await ledger.records.startRead("run-1", "erp", stream);
  const body = { ...record(stream, id), ...fields };
  await read.ingest([
    {
      record: {
        rawHash: sha256(JSON.stringify(body)),
        place: "erp.csv:1",
        key: key(id),
        customer: key(stream === "customers" ? id : "C"),
        record: body,
        raw: JSON.stringify({ name: `${canary} raw` }),
      },
    },
    {
      rejection: {
        rawHash: sha256(`bad ${stream}`),
        place: "erp.csv:2",
        key: key(`${id}-bad`),
        customer: key("C"),
        field: "name",
        code: "too-long",
        message: "the name is too long",
        expected: undefined,
        raw: JSON.stringify({ name: `${canary} bad` }),
      },
    },
  ]);
  await read.finish({ complete: true, whole: true, rows: 2, bad: 1 });
}

function marker(value: unknown): PrivateMarker {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const json = JSON.parse(JSON.stringify(value));
    if (isPrivateMarker(json)) return json;
  }
  throw new Error(`no marker: ${JSON.stringify(value)}`);
}

/** A ledger that has seen one record of each stream, and an operation of each outcome about them. */
async function full(): Promise<{ ledger: Ledger; path: string }> {
  const { ledger, path } = await openLedger({ isNew: true });
  await ingest(ledger, "customers", "C");
  await ingest(ledger, "orders", "O");
  await ingest(ledger, "staff", "S");
  const loaded = ledger.state.load(key("C"));
  const payload = JSON.parse(
    JSON.stringify({
      crmCustomerId: "C",
      branchName: "b",
      customer: loaded.desiredCustomer?.body,
      staff: loaded.staff[0]?.body,
    }),
  );
  const done = await intend(ledger, update("C", { payload }));
  await ledger.journal.conclude(done, doneWith());
  const rejected = await ledger.journal.intend({
    operation: update("C", { payload }),
    runId: null,
    wireHash: "0".repeat(64),
    nonce: "0".repeat(32),
    context: {},
    sealed: [{ ref: "initial-password/crm/S", version: 1, salt: "salt", values: { password: `${secretCanary}-new` } }],
  });
  await ledger.journal.conclude(rejected, {
    state: "rejected",
    attempt: { outcome: "rejected", code: "13004" },
    answer: JSON.stringify({ message: `${canary} in an answer` }),
    changes: [],
    audit: { kind: "rejected", body: {} },
  });
  await ledger.records.setOutcomes("run-1", [
    { stream: "orders", key: key("O"), outcome: "deferred", code: "x", reason: "waits", again: true },
  ]);
  return { ledger, path };
}

function tablesOf(path: string): string[] {
  return sqlite(path, { readonly: true })
    .prepare<[], string>("select name from sqlite_schema where type = 'table' and name not like 'sqlite%'")
    .pluck()
    .all();
}

describe("private values", () => {
  it("are in one table and in no other", async () => {
    const { path } = await full();
    const database = sqlite(path, { readonly: true });
    const holding: string[] = [];
    for (const table of tablesOf(path)) {
      const text = JSON.stringify(database.prepare(`select * from ${table}`).all());
      if (text.includes(canary)) holding.push(table);
      expect(text, table).not.toContain(secretCanary);
    }
    expect(holding).toEqual(["private_value"]);
  });

  it("are on no page of the file that belongs to another table or index", async () => {
    const { ledger, path } = await full();
    ledger.close();
    const copy = `${path}.copy`;
    sqlite(path).exec(`vacuum into '${copy}'`);
    expect(readFileSync(copy, "latin1")).toContain(canary);
    const database = sqlite(copy);
    database.exec("delete from private_value; vacuum");
    database.close();
    expect(readFileSync(copy, "latin1")).not.toContain(canary);
  });

  it("compare by salted commitments that differ between records and fields", async () => {
    const { ledger } = await openLedger();
    await ingest(ledger, "customers", "C", { adminAccount: "same", address: "same" });
    await ingest(ledger, "customers", "D", { adminAccount: "same" });
    const one = marker(ledger.state.load(key("C")).desiredCustomer?.body.adminName);
    const bodies = sqlite(ledger.path).prepare<[], string>("select body from record_version order by id").pluck().all();
    const commitments = bodies.flatMap((body) =>
      [...body.matchAll(/"commitment":"([0-9a-f]+)"/gu)].map((match) => match[1]),
    );
    expect(new Set(commitments).size).toBe(commitments.length);
    expect(ledger.private.valueOf(one)).toBe(`${canary} adminName C`);
  });

  it("stand as commitments in what is kept, and as markers in what is read of it", () => {
    const order = {
      ...orderRecord("O1", "C1"),
      instances: [{ kind: "product", id: "P", passwords: ["zq"], none: null }],
    };
    for (const [stream, record] of Object.entries({
      customers: customerRecord("C1"),
      orders: order,
      staff: { ...staffRecord("S1", "C1"), password: "zq" },
    }) as [Stream, JsonObject][]) {
      const text = JSON.stringify(record);
      const split = privatise(stream, record, "salt");
      expect(JSON.stringify(record)).toBe(text);
      expect(sha256(split.body)).toBe(split.bodyHash);
      expect(privatise(stream, { ...record, more: 1 }, "salt").bodyHash).not.toBe(split.bodyHash);
      const ref = `${stream}/crm/1`;
      const marked = withMarkers(stream, { namespace: "crm", id: "1" }, 7, parseJsonObject(split.body));
      const markers = (JSON.stringify(marked).match(/\{"\$private":[^}]*\}/gu) ?? []).map((one) =>
        privateMarker.parse(JSON.parse(one)),
      );
      expect(markers.map(({ field }) => field).sort()).toEqual(
        Object.keys({ ...split.values, ...split.secrets }).sort(),
      );
      for (const { $private, version, field, commitment } of markers) {
        expect([$private, version]).toEqual([ref, 7]);
        expect(commitment).toBe(commitmentTo("salt", field, { ...split.values, ...split.secrets }[field] ?? null));
      }
    }
  });

  it("are not handed out when they no longer fit their commitment, were erased, or are of another version", async () => {
    const { ledger, path } = await openLedger();
    await ingest(ledger, "customers", "C");
    const name = marker(ledger.state.load(key("C")).desiredCustomer?.body.name);
    expect(ledger.private.valueOf(name)).toBe(`${canary} name C`);
    expect(ledger.private.valueOf({ ...name, version: 2 })).toBeUndefined();
    expect(ledger.private.valueOf({ ...name, field: "address" })).toBeUndefined();
    sqlite(path).exec("update private_value set body = replace(body, 'name C', 'name X')");
    expect(ledger.private.valueOf(name)).toBeUndefined();
    sqlite(path).exec("update private_value set body = null");
    expect(ledger.private.valueOf(name)).toBeUndefined();
  });
});

describe("passwords", () => {
  it("are sealed on disk, in the write-ahead log too, and opened with the key only", async () => {
    const { ledger, path } = await full();
    const bytes = [path, `${path}-wal`].filter((file) => existsSync(file)).map((file) => readFileSync(file, "latin1"));
    expect(bytes.join("")).not.toContain(secretCanary);
    const staff = ledger.state.load(key("C")).staff[0];
    const password = marker(staff?.body.password);
    expect(ledger.private.valueOf(password)).toBe(`${secretCanary}-S`);
    const kept = await ledger.private.latestSealed("initial-password/crm/S");
    expect(kept.values).toEqual({ password: `${secretCanary}-new` });

    const wrong = await openLedger({ path, sealSecret: "another key of some length" });
    expect(() => wrong.ledger.private.valueOf(password)).toThrow("ledger.sealKey cannot decrypt the value");
    const none = await openLedger({ path, sealSecret: undefined });
    expect(none.ledger.private.valueOf(password)).toBeUndefined();
    expect(sealSecret).not.toContain(secretCanary);
  });

  it(
    "open for the record that they were sealed for only, in the ledger that they were sealed in",
    { tags: "long" },
    async () => {
      const { ledger, path } = await full();
      await ingest(ledger, "staff", "T");
      const staff = ledger.state.load(key("C")).staff;
      const [first, second] = ["S", "T"].map((id) => marker(staff.find((one) => one.key.id === id)?.body.password));
      if (first === undefined || second === undefined) throw new Error("two members of staff were taken up");
      expect(ledger.private.valueOf(first)).toBe(`${secretCanary}-S`);
      const sealedOf = (ref: string): unknown =>
        sqlite(path).prepare("select sealed from private_value where ref = ?").pluck().get(ref);
      const put = (ref: string, sealed: unknown): void =>
        void sqlite(path).prepare("update private_value set sealed = ? where ref = ?").run(sealed, ref);
      // Whoever has the file at hand gives one person what another one's password is.
      put("staff/crm/S", sealedOf("staff/crm/T"));
      expect(() => ledger.private.valueOf(first)).toThrow(
        "ledger.sealKey cannot decrypt the value staff/crm/S, version 1",
      );
      put("initial-password/crm/S", sealedOf("staff/crm/T"));
      await expect(ledger.private.latestSealed("initial-password/crm/S")).rejects.toThrow("or for another record");

      const other = await full();
      put(
        "staff/crm/T",
        sqlite(other.path).prepare("select sealed from private_value where ref = 'staff/crm/S'").pluck().get(),
      );
      expect(() => ledger.private.valueOf(second)).toThrow("ledger.sealKey cannot decrypt the value");
      const salts = [path, other.path].map((one) =>
        sqlite(one).prepare("select value from meta where key = 'seal-salt'").pluck().get(),
      );
      expect(new Set(salts).size).toBe(2);
    },
  );

  it("are wiped when they have done their work", async () => {
    const { ledger } = await full();
    const staff = ledger.state.load(key("C")).staff[0];
    const password = marker(staff?.body.password);
    await ledger.private.wipeSealed(password.$private, password.version);
    expect(ledger.private.valueOf(password)).toBeUndefined();
    expect(ledger.private.valueOf(marker(staff?.body.name))).toBe(`${canary} name S`);
    await ledger.private.wipeSealed("initial-password/crm/S", 1);
    expect(await ledger.private.latestSealed("initial-password/crm/S")).toEqual({
      values: undefined,
      version: 1,
      nextVersion: 2,
    });
  });

  it("are not stored at all without a key: the record is set aside and says so", async () => {
    const { ledger, path } = await openLedger({ sealSecret: undefined });
    await ingest(ledger, "staff", "S");
    const codes = sqlite(path).prepare("select code from quarantine order by code").pluck().all();
    expect(codes).toEqual(["no-sealing-key", "too-long"]);
    expect([path, `${path}-wal`].map((file) => readFileSync(file, "latin1")).join("")).not.toContain(secretCanary);
    const planned = update("C");
    await expect(
      ledger.journal.intend({
        operation: planned,
        runId: null,
        wireHash: "0",
        nonce: "0",
        context: {},
        sealed: [{ ref: "r", version: 1, salt: "s", values: { password: secretCanary } }],
      }),
    ).rejects.toThrow("without a sealing key");
    expect(await ledger.journal.open()).toEqual([]);
  });

  it("of different records or times have different sealed forms", async () => {
    const { ledger, path } = await openLedger();
    const values = { password: "the same" };
    for (const version of [1, 2]) {
      await ledger.journal.intend({
        operation: update(`${version}`),
        runId: null,
        wireHash: "0",
        nonce: "0",
        context: {},
        sealed: [{ ref: "r", version, salt: "s", values }],
      });
    }
    const sealed = sqlite(path).prepare("select sealed from private_value where ref = 'r'").pluck().all();
    expect(new Set(sealed).size).toBe(2);
  });
});

describe("a private value that nobody can read", () => {
  const marker: PrivateMarker = { $private: "customers/crm/C", field: "name", version: 1, commitment: "" };

  it("is damage of the ledger, after which nothing more is written or sent", async () => {
    const { ledger, path } = await openLedger({ sealSecret });
    await ingest(ledger, "customers", "C");
    sqlite(path).exec("update private_value set body = substr(body, 1, 9) where ref = 'customers/crm/C'");
    expect(await problemOf(() => ledger.private.valueOf(marker))).toMatchObject({
      code: "ledger.damaged",
      exitCode: 65,
    });
    expect(ledger.broken?.code).toBe("ledger.damaged");
    await expect(intend(ledger, update("other"))).rejects.toThrow("damaged");
  });
});
