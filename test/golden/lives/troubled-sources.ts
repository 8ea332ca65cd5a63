import { company, exported, order } from "../company.ts";
import { openHolds } from "../known.ts";
import type { Life, Living } from "../life.ts";
import { type Json, elements, member, text } from "../operations.ts";
import { begin } from "./people.ts";

const all = ["run", "everything"];

/** Writes what the CRM exports, and then one of the files otherwise; the next command takes the files as they are. */
function spoil(life: Living, name: string, change: (content: string) => string): void {
  life.write();
  life.put(`data/${name}`, change(exported(life.company)[name] ?? ""));
}

/** Lines of JSON with another object in the place of each. */
function rewritten(content: string, change: (row: Record<string, unknown>) => object): string {
  const rows = content.trimEnd().split("\n");
  return rows.map((row) => `${JSON.stringify(change(JSON.parse(row)))}\n`).join("");
}

/** The id in quarantine of a record of a stream. */
function quarantined(listed: Json, stream: string): string {
  const found = elements(listed).find((row) => text(member(row, "stream")) === stream);
  return text(member(found ?? null, "id"));
}

export const lives: Life[] = [
  {
    name: "source-trouble",
    async live(life) {
      const crm = begin(life, company(2, 6));
      life.configuration.more = "limits: { absenceReads: 1, absenceTime: 0s }\n";
      await life.run(...all);
      spoil(life, "staff.ndjson", (content) => content.slice(0, content.length / 2 - 20));
      await life.command(...all);
      spoil(life, "orders.ndjson", () => "");
      await life.command(...all);
      await life.run("status");
      // Half of the people are gone, and a person believes it.
      const people = crm.staff;
      crm.staff = people.filter((_, index) => index % 2 === 0);
      crm.customers[0] = { id: "C1", name: "Firm New" };
      await life.run(...all);
      await life.run(...all, "--accept-shrink", "hr/staff=1000", "--by", "anna");
      crm.staff = people;
      await life.run(...all);
      // All people hold nothing by the field that the mapping reads, and a person believes that, too.
      spoil(life, "staff.ndjson", (content) => rewritten(content, ({ holds, ...row }) => ({ ...row, seats: holds })));
      await life.command(...all);
      await life.command(...all, "--accept-drift", "hr/staff=1000", "--by", "anna");
      for (const hold of await openHolds(life))
        await life.command("reject", hold, "--reason", "the export was wrong", "--by", "anna");
      await life.run(...all);
    },
  },
  {
    name: "quarantine",
    async live(life) {
      const crm = begin(life, company(2, 1));
      await life.run(...all);
      crm.customers.push({ id: "C3", name: "" });
      crm.orders.push(order("O3", "C1", [{ id: "O3-A1", limitEnd: "soon" }]), order("O4", "C3", ["O4-A1"]));
      crm.staff.push(
        { id: "S3", customer: "C1", name: "A name that is much longer than thirty characters" },
        { id: "S4", customer: "C2", holds: ["O2-A1"], name: "", nick: "Dora" },
      );
      crm.staff[0] = { id: "S1-1", customer: "C1", holds: [], login: "no login", note: "Desk 1" };
      spoil(life, "staff.ndjson", (content) => `${content}{"id":"S5","customer":\n`);
      await life.command(...all);
      const listed = await life.command("quarantine", "list");
      await life.command("quarantine", "show", quarantined(listed.json[0] ?? null, "orders"));
      // The CRM repairs some of it, and a new mapping the rest.
      crm.customers[2] = { id: "C3" };
      crm.orders[2] = order("O3", "C1", [{ id: "O3-A1", limitEnd: "2027-12-31T00:00:00Z" }]);
      crm.staff = crm.staff.map((person) => (person.id === "S3" ? { ...person, name: "A short name" } : person));
      crm.staff[0] = { id: "S1-1", customer: "C1", holds: ["O1-A1"], note: "Desk 1" };
      await life.run(...all);
      life.configuration.sources = life.configuration.sources
        .replace("name: name\n          mobile", "name: { first: [name, nick] }\n          mobile")
        .replace("remark: note", "remark: { upper: note }");
      await life.run("quarantine", "retry", "all", "--by", "anna");
      // Now two people hold the same asset, until the CRM takes it from one of them.
      await life.run(...all);
      crm.staff = crm.staff.map((person) => (person.id === "S2-1" ? { ...person, holds: [] } : person));
      await life.run(...all);
      await life.run(...all);
      await life.run("quarantine", "list");
      await life.run("report", "exceptions", "--period", "2026-03");
    },
  },
];
