import { company, exported, twoSources, type Company, type Person } from "../company.ts";
import { enterpriseOf, openHolds } from "../known.ts";
import type { Life, Living } from "../life.ts";
import { begin } from "./people.ts";

const all = ["run", "everything"];
const why = ["--reason", "request 17 of the privacy desk", "--by", "anna"];

/** The second CRM: its records have the ids of the first one, and a namespace of their own. */
const portal = twoSources
  .slice("sources:\n".length, twoSources.indexOf("  hr:"))
  .replace(
    "  crm:\n    kind: file\n    directory: data",
    "  portal:\n    kind: file\n    namespace: portal\n    directory: portal",
  )
  .concat(twoSources.slice(twoSources.indexOf("      staff:")));

const numbered = `assumptions:
  crmCustomerIdTemplate: "{namespace}-{id}"
  channelCustomerIdTemplate: "{namespace}-{id}"
  channelOrderIdTemplate: "{namespace}-{id}"
`;

function writePortal(life: Living, crm: Company): void {
  for (const [name, content] of Object.entries(exported(crm))) life.put(`portal/${name}`, content);
}

function say(crm: Company, id: string, more: Partial<Person>): void {
  crm.staff = crm.staff.map((person) => (person.id === id ? { ...person, ...more } : person));
}

export const lives: Life[] = [
  {
    name: "two-namespaces",
    async live(life) {
      const crm = begin(life, company(2, 1));
      const other = company(2, 1);
      life.configuration.sources += portal;
      life.configuration.more = numbered;
      writePortal(life, other);
      await life.run(...all);
      // The same firm is a customer of both; the platform has one enterprise for each.
      crm.customers[0] = { id: "C1", branch: "South" };
      say(other, "S1-1", { holds: [], name: "Anna New" });
      other.orders[1] = { ...other.orders[1], id: "O2", customer: "C2", assets: [], products: [], placedAt: "soon" };
      writePortal(life, other);
      await life.run(...all);
      await life.run("status");
      await life.run("link", "portal/C2", enterpriseOf(life, "crm-C2"), "--channel-customer-id", "crm-C2", ...why);
      life.configuration.more = `${numbered}policies: { assignments: { revoked: ask } }\n`;
      Object.assign(other, { orders: company(2, 1).orders });
      say(other, "S2-1", { holds: [] });
      say(crm, "S2-1", { holds: [] });
      writePortal(life, other);
      await life.run(...all);
      const [ofCrm = "", ofPortal = ""] = await openHolds(life);
      await life.run("approve", ofCrm, ...why);
      await life.run("reject", ofPortal, ...why);
      await life.run(...all);
      await life.run(...all);
      await life.run("explain", "staff", "portal/S2-1");
      await life.run("explain", "order", "O2");
      await life.run("report", "entitlements", "--period", "2026-03");
    },
  },
  {
    name: "erased-person",
    async live(life) {
      const crm = begin(life, company(2, 2));
      life.configuration.more = "limits: { absenceReads: 1, absenceTime: 0s }\npolicies: { staff: { left: apply } }\n";
      await life.run(...all);
      say(crm, "S1-1", { name: "Anna New" });
      await life.run(...all);
      await life.run("audit", "subject", "--person", "S1-1", "--by", "anna");
      await life.run("audit", "erase", "--person", "S1-1", ...why);
      crm.staff = crm.staff.filter(({ id }) => id !== "S1-1");
      await life.run(...all);
      await life.run("audit", "erase", "--person", "S1-1", ...why);
      await life.run("audit", "subject", "--person", "S1-1", "--by", "anna");
      await life.run("explain", "staff", "S1-1");
      await life.run(...all);
      await life.run("audit", "verify");
      await life.run("audit", "head");
      await life.run("audit", "prove", "--order", "O1");
    },
  },
];
