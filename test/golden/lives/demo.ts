import { readFileSync } from "node:fs";
import { join } from "node:path";
import { member, parseExactly, text, type Json } from "../operations.ts";
import { project, type Life, type Living } from "../life.ts";
import { heldIn } from "./orders.ts";

/** The export of the demo by file, and what a life keeps of it. */
type Sample = Record<string, string>;
interface Share {
  /** So many customers of the CRM, beside these, and so many of the portal. */
  crm: number;
  beside: readonly string[];
  portal: number;
}

/** Customers of whom something is broken on purpose, and the one that is nobody. */
const broken = ["1017", "1023", "1044", "1057", "1071", "1083", "1095", "1107", "1119", "1131", "1143", "9999"].map(
  (id) => `C-${id}`,
);

const files = {
  customers: "sample/crm/customers.csv",
  orders: "sample/crm/orders.csv",
  lines: "sample/crm/order-lines.csv",
  portalCustomers: "sample/portal/customers.ndjson",
  portalOrders: "sample/portal/orders.json",
  staff: "sample/hr/staff.ndjson",
} as const;

/** The lines of a text of which the first field is kept, behind the line of the column names. */
function rows(name: string, keeps: (id: string, line: string) => boolean): string {
  const [columns = "", ...lines] = readDemo(name).trimEnd().split("\n");
  const kept = lines.filter((line) => keeps(line.slice(0, line.indexOf(",")), line));
  return `${[columns, ...kept].join("\n")}\n`;
}

function objects(name: string, keeps: (row: Json) => boolean): string {
  const lines = readDemo(name).trimEnd().split("\n");
  return `${lines.filter((line) => keeps(parseExactly(line))).join("\n")}\n`;
}

function readDemo(name: string): string {
  return readFileSync(join(project, "demo", name), "utf8");
}

function sample({ crm, beside, portal }: Share): Sample {
  const numbers = (first: number, length: number): number[] => Array.from({ length }, (_, index) => first + index);
  const mine = new Set([...numbers(1001, crm).map((number) => `C-${number}`), ...beside]);
  const theirs = new Set(numbers(3001, portal).map((number) => `PC-${number}`));
  const orders = new Set<string>();
  const ofOrders = rows(files.orders, (id, line) => {
    const keeps = mine.has(line.split(",")[1] ?? "");
    if (keeps) orders.add(id);
    return keeps;
  });
  const { orders: portalOrders, ...about }: { orders: Json[] } = JSON.parse(readDemo(files.portalOrders));
  const kept = portalOrders.filter((row) => theirs.has(text(member(row, "customer"))));
  return {
    [files.customers]: rows(files.customers, (id) => mine.has(id)),
    [files.orders]: ofOrders,
    [files.lines]: rows(files.lines, (id) => orders.has(id)),
    // One of these has a number of the CRM: two sources claim it.
    [files.portalCustomers]: objects(files.portalCustomers, (row) => {
      const id = text(member(row, "id"));
      return theirs.has(id) || mine.has(id);
    }),
    [files.portalOrders]: `${JSON.stringify({ ...about, orders: kept })}\n`,
    [files.staff]: objects(files.staff, (row) => {
      const company = text(member(row, "company"));
      return mine.has(company) || theirs.has(company);
    }),
  };
}

/** Changes the lines that begin so; a line that becomes nothing is gone. */
function edit(all: Sample, name: string, start: string, change: (line: string) => string): void {
  const lines = (all[name] ?? "").split("\n");
  if (!lines.some((line) => line.startsWith(start))) throw new Error(`${name} has no line that begins with ${start}`);
  const changed = lines.map((line) => (line.startsWith(start) ? change(line) : line));
  all[name] = `${changed.filter((line) => line !== "").join("\n")}\n`;
}

/** The folder of the demo, as far as a life has it. */
function puts(life: Living, all: Sample): void {
  for (const [name, content] of Object.entries(all)) life.put(name, content);
}

function begins(life: Living, all: Sample): void {
  life.settings["ledger.sealKey"] = "env:SEAL_KEY";
  // The demo reads a copy of its sample.
  life.configure(readDemo("crm-sync.yaml").replaceAll("state/exports/", "sample/"));
  puts(life, all);
}

export const lives: Life[] = [
  {
    name: "demo-first-act",
    async live(life) {
      begins(life, sample({ crm: 3, beside: broken, portal: 2 }));
      await life.command("run", "customers-and-orders");
      await life.command("run", "staff");
      await life.command("run", "customers-and-orders");
      await life.command("run", "verify");
      for (const kind of ["orders", "reconciliation", "exceptions"])
        await life.command("report", kind, "--period", "2026-03");
      await life.command("quarantine", "list");
      await life.command("status");
      await life.command("explain", "order", "SO-50001");
    },
  },
  {
    name: "demo-second-act",
    async live(life) {
      const all = sample({ crm: 7, beside: [], portal: 1 });
      begins(life, all);
      await life.command("run", "customers-and-orders");
      await life.command("run", "staff");
      // An order has a product more.
      const more = "SO-50004,product,P-990001,A-100026,,,Plan 3D,,,,,PLAN-3D,,tool,1,,,YEAR,1,1-0-0,,,,,,";
      edit(all, files.lines, "SO-50004,asset,A-100026,", (line) => `${line}\n${more}`);
      // Two were cancelled.
      for (const id of ["SO-50007", "SO-50010"])
        edit(all, files.orders, `${id},`, (line) => line.replace(/,(?:open|delivered),/u, ",cancelled,"));
      // A person left, one is called otherwise, and so is a customer.
      edit(all, files.staff, '{"employeeId":"E-20005",', () => "");
      edit(all, files.staff, '{"employeeId":"E-20003",', (line) =>
        line.replace(/"fullName":"(?<name>[^"]*)"/u, '"fullName":"$<name> Holm"'),
      );
      edit(all, files.customers, "C-1006,", (line) => line.replace(/^C-1006,[^,]*/u, "$& Nord"));
      puts(life, all);
      const [first = "", second = ""] = heldIn(await life.command("run", "customers-and-orders"));
      for (const _ of [1, 2, 3]) await life.command("run", "staff");
      await life.command("approve", first, "--reason", "asked the customer", "--by", "anna");
      await life.command("reject", second, "--reason", "the customer called again", "--by", "anna");
      await life.command("run", "customers-and-orders");
      await life.command("run", "staff");
      await life.command("explain", "order", "SO-50004");
      await life.command("report", "orders", "--period", "2026-03");
    },
  },
];
