import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { stringify } from "yaml";
import { openHolds } from "../../support/asking.ts";
import { world, type World } from "../../support/cli.ts";
import { LedgerView } from "../../support/ledger-view.ts";
import { lines, mappingOf } from "../../support/world/crm-files.ts";
import { company, customerRow, orderRow } from "../../support/world/crm.ts";
import { changeFile } from "../../support/world/start.ts";

/** Each value is planted once, and looked for as these bytes. */
const planted: string[] = [];
const plant = (value: string): string => {
  planted.push(value);
  return value;
};
let mobiles = 10;
const name = (what: string): string => plant(`Zoltan ${what}berg`);
const mobile = (): string => plant(`+4917655501${(mobiles += 1).toString().padStart(3, "0")}`);

/** Somebody whom no record knows, in the words of a service. */
const stranger = (what: string): string => `Member ${name(what)} ${plant(`138001380${(mobiles += 1)}`)} exists`;

interface Person {
  id: string;
  login: string;
  name: string;
  mobile: string;
  note: string;
  /** No mapping reads these. */
  mail: string;
  born: string;
}

const person = (id: string, login = `zoltanlogin${id.toLowerCase().replaceAll("-", "")}`): Person => ({
  id,
  login: plant(login),
  name: name(`Person${id.replace("-", "")}`),
  mobile: mobile(),
  note: plant(`sits beside Zoltan ${id}`),
  mail: plant(`zoltan.${id.toLowerCase()}@example.com`),
  born: name(`Born${id.replace("-", "")}`),
});

const columns = ["id", "customer", "login", "name", "mobile", "note", "mail", "born", "holds"] as const;

/** What the CRM gives: C1 with two people and one whose row cannot be used; C2 stays when they are gone. */
function givenBy(w: World) {
  const customer = {
    name: name("Company"),
    address: plant("Zoltanstreet 12"),
    contact: name("Boss"),
    account: plant("zoltanboss"),
    email: plant("zoltan.boss@example.com"),
    mobile: mobile(),
    manager: name("Manager"),
    fax: plant("0049 30 555 0199"),
    assistant: name("Assistant"),
  };
  const people = [person("S1-1"), person("S1-2")];
  const [buyer] = people;
  const bad = person("S1-3", "zoltan unusable!");
  const order = { placedBy: name("Buyer"), call: mobile() };
  const write = (is: { gone?: true; renamed?: string; address?: string; isBadGone?: true } = {}): void => {
    const isOf = ({ id }: { id: string }): boolean => is.gone !== true || id !== "C1";
    const customers = w.customers
      .filter(isOf)
      .map((row) =>
        row.id === "C1"
          ? { ...customerRow(row), ...customer, address: is.address ?? customer.address }
          : { ...customerRow(row), manager: buyer?.name },
      );
    const orders = w.orders
      .filter((row) => isOf({ id: row.customer }))
      .map((row) => ({ ...orderRow(row), ...(row.customer === "C1" ? order : { placedBy: buyer?.name }) }));
    writeFileSync(w.path("data/customers.ndjson"), lines(customers));
    writeFileSync(w.path("data/orders.ndjson"), lines(orders));
    const rows = (is.gone === true ? [] : [...people, ...(is.isBadGone === true ? [] : [bad])]).map((row) => ({
      ...row,
      customer: "C1",
      holds: row.id === "S1-1" ? "O1-A1" : "",
      ...(row.id === "S1-1" && is.renamed !== undefined ? { name: is.renamed } : {}),
    }));
    const other = { login: "olga", name: "Olga Other", mobile: "+4930123456", note: "", mail: "", born: "", holds: "" };
    if (w.customers.some(({ id }) => id === "C2"))
      for (const id of ["S2-1", "S2-2", "S2-3"])
        rows.push({ id, customer: "C2", ...other, login: `olga${id.slice(-1)}` });
    rmSync(w.path("hr.db"), { force: true });
    const inserts = rows.map(
      (row) => `insert into staff values (${columns.map((one) => `'${row[one]}'`).join(", ")});`,
    );
    changeFile(w.path("hr.db"), `create table staff (${columns.join(", ")}); ${inserts.join(" ")}`);
  };
  return { write, buyer };
}

function configure(w: World): void {
  const ndjson = (stream: "customers" | "orders") => ({
    files: `${stream}.ndjson`,
    key: "id",
    mapping: mappingOf(stream),
  });
  const mapping = { ...mappingOf("staff", "csv"), remark: "note" };
  const sources = {
    crm: { kind: "file", directory: "data", streams: { customers: ndjson("customers"), orders: ndjson("orders") } },
    hr: {
      kind: "sql",
      connection: { kind: "sqlite", file: "hr.db" },
      streams: { staff: { query: "select * from staff", key: "login", mapping } },
    },
  };
  const limits = { absenceReads: 1, absenceTime: "0s", removals: { enterprise: { floor: 50, share: 1 } } };
  const jobs = {
    everything: { kind: "sync", streams: ["customers", "orders", "staff"] },
    copies: { kind: "backup", to: "backups" },
  };
  const ledger = { path: "ledger.db", sealKey: "env:SEAL_KEY" };
  writeFileSync(
    w.path("crm-sync.yaml"),
    stringify({ ledger, zone: "UTC", log: { level: "trace" }, limits, sources, jobs }),
  );
}

/** Files of the world that hold any planted value, but for those of the CRM. */
function filesWith(w: World): string[] {
  return readdirSync(w.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/^(?:data\/|hr\.db)/u.test(relative(w.folder, path)))
    .flatMap((path) => {
      const bytes = readFileSync(path);
      const found = planted.filter((text) => bytes.includes(text) || bytes.includes(text, 0, "utf16le"));
      return found.map((text) => `${relative(w.folder, path).replaceAll(/\d{8}T\d+(?:\.\d+)?Z/gu, "…")}: ${text}`);
    });
}

it(
  "forty personal values are in the private table alone, and nowhere once they are erased",
  { tags: "long" },
  async () => {
    const w = await world({ records: { ...company(2, 1), staff: [] }, isNew: true });
    mkdirSync(w.path("tmp"));
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv("TMPDIR", w.path("tmp"));
    vi.stubEnv("SQLITE_TMPDIR", w.path("tmp"));
    const { write, buyer } = givenBy(w);
    configure(w);
    // The CRM has C1 alone at first.
    const [second, secondOrder] = [w.customers.pop(), w.orders.pop()];
    if (second === undefined || secondOrder === undefined) throw new Error("there is no C2");
    write();
    const said: string[] = [];
    const run = async (...words: string[]) => {
      const ended = await w.run(...words);
      // Names of companies are shown to people.
      const mayName = words[0] === "explain" || words[0] === "plan";
      said.push(mayName ? ended.stdout.replaceAll("Zoltan Companyberg", "") : ended.stdout, ended.stderr);
      return ended;
    };
    // Each kind of call for C1 fails once, in words about strangers, and is tried again.
    for (const [operation, code] of [
      ["E2", "13004"],
      ["E5", "13004"],
      ["M1", "10004"],
      ["M9", "60023"],
    ] as const)
      w.sandbox.faults.add({ operation, fault: "status299", code, words: stranger(operation), times: 1 });
    await run("run", "everything");
    for (let round = 0; round < 4; round += 1) await run("resync", "--customer", "C1");
    w.customers.push(second);
    w.orders.push(secondOrder);
    w.sandbox.faults.add({ operation: "E4", fault: "oddCode", code: name("Code"), times: 1 });
    const renamed = name("Married");
    write({ renamed, address: plant("Zoltanlane 3") });
    appendFileSync(w.path("data/orders.ndjson"), `{"id":"O9","placedBy":"${buyer?.name}"\n`);
    await run("run", "everything");
    w.later(1);
    const again = await run("run", "everything");
    expect(again.exitCode, again.stdout).toBe(3);
    expect(planted.length).toBeGreaterThanOrEqual(40);
    expect(new Set(planted).size).toBe(planted.length);

    // The month is closed, whatever is open in it.
    w.later(24 * 30);
    await run("run", "everything");
    const { blockers } = await w.ask("report", "blockers", "2026-11");
    const ids = blockers.map(({ id }: { id: string }) => id);
    await run("report", "sign-off", "2026-11", ...ids, "--by", "anna", "--reason", "read later");
    expect((await run("report", "close", "2026-11", "--by", "anna")).exitCode).toBe(0);

    // Whatever is printed, logged, planned, reported, closed and exported holds none of it.
    for (const words of [
      "status",
      "--json status",
      "explain customer C1",
      "--json explain order O1",
      "--json explain staff S1-1",
      "quarantine list",
      "run show last",
      "run verify",
      `plan --out ${w.path("plan.ndjson")}`,
      `report orders --period 2026-11 --out ${w.path("orders.csv")} --format csv`,
      `report exceptions --period 2026-11 --out ${w.path("exceptions.csv")} --format csv`,
      `audit export --out ${w.path("audit.ndjson")}`,
    ])
      await run(...words.split(" "));
    expect(planted.filter((text) => said.join("\n").includes(text))).toEqual([]);
    const view = new LedgerView(w.path("ledger.db"));
    const inClear = [...view.texts(["private_value"])].filter(({ text }) => planted.some((one) => text.includes(one)));
    view.close();
    expect(inClear).toEqual([]);
    const before = filesWith(w);
    expect(before.filter((found) => !found.startsWith("ledger.db"))).toEqual([]);
    expect(
      planted.filter((text) => !before.some((found) => found.endsWith(text))),
      "kept nowhere",
    ).toEqual([]);

    // A backup is named by the erasure.
    const copied = await run("run", "copies");
    expect([copied.exitCode, copied.stderr]).toEqual([0, ""]);
    // Whose row cannot be used leaves first: a list that loses half of itself at once is not believed.
    for (const is of [{ renamed, isBadGone: true }, { gone: true }] as const) {
      write(is);
      await run("run", "everything");
    }
    for (const { id } of await openHolds(w)) await run("reject", id, "--reason", "it stays", "--by", "anna.lee");
    await run("run", "everything");
    const erased = await run("audit", "erase", "--customer", "C1", "--reason", "request 17", "--by", "anna.lee");
    expect([erased.exitCode, erased.stderr]).toEqual([0, ""]);
    expect(erased.stdout).toMatch(/a backup from before now; .*backups\/ledger-/u);
    rmSync(w.path("backups"), { recursive: true });

    // No byte is left: in the ledger, its log, temporary files, outputs, closed periods and a new backup.
    expect((await run("run", "copies")).exitCode).toBe(0);
    expect(filesWith(w)).toEqual([]);
    expect((await w.run("explain", "customer", "C1")).stdout).not.toContain("Zoltan");
    expect(planted.filter((text) => said.join("\n").includes(text))).toEqual([]);
    expect((await run("audit", "verify")).exitCode).toBe(0);
    const then = await w.does("run", "everything");
    expect([then.exitCode, then.calls], then.stdout).toEqual([0, {}]);
  },
);
