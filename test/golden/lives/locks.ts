import { company, order, type Asset, type Person } from "../company.ts";
import { numberOf, openHold } from "../known.ts";
import type { Life, Living } from "../life.ts";
import { begin } from "./people.ts";

const why = ["--reason", "reported stolen", "--by", "anna"];
const travels = ["--reason", "travels", "--by", "anna"];
const every = [
  "E1",
  "E2",
  "E3",
  "E4",
  "E5",
  "E6",
  "E7",
  "E8",
  "E9",
  "M1",
  "M2",
  "M3",
  "M4",
  "M5",
  "M6",
  "M7",
  "M8",
  "M9",
  "M10",
];

const lock = (id: string, more: Partial<Asset> = {}): Asset => ({ id, type: "normal_recover_usbkey", ...more });

/** What the CRM says of an asset from now on. */
function sayAsset(life: Living, id: string, more: Partial<Asset>): void {
  life.company.orders = life.company.orders.map((one) => ({
    ...one,
    assets: one.assets.map((asset) => (asset.id === id ? { ...asset, ...more } : asset)),
  }));
}

/** What the CRM says of a person from now on. */
function sayPerson(life: Living, id: string, more: Partial<Person>): void {
  life.company.staff = life.company.staff.map((person) => (person.id === id ? { ...person, ...more } : person));
}

/** The order service answers the next call about locks with this status. */
async function answersStatus(life: Living, operation: "E6" | "E7", value: number): Promise<void> {
  await life.sandbox("faults", { operation, fault: "oddField", field: "status", value, times: 1 });
}

export const lives: Life[] = [
  {
    name: "lock-and-unlock",
    async live(life) {
      const crm = begin(life, company(2, 0));
      crm.orders = ["1", "2"].map((n) => order(`O${n}`, `C${n}`, [lock(`O${n}-A1`), lock(`O${n}-A2`)]));
      await life.run("run", "everything");
      const numbers = ["O1-A1", "O1-A2", "O2-A1", "O2-A2"].map((id) => numberOf(life, id));
      const [first = "", second = "", third = "", fourth = ""] = numbers;
      await life.run("lock", "C1", "--asset", first, second, ...why, "--dry-run");
      await life.run("lock", "C1", "--asset", first, second, ...why);
      await life.run("unlock", "C1", "--asset", first, ...why);
      await life.run("lock", "C1", "--asset", third, ...why);
      // It failed (3), and the next run tries again.
      await answersStatus(life, "E6", 3);
      await life.run("lock", "C2", "--asset", third, ...why);
      await life.run("run", "everything");
      // It has the wrong type (4), until a person takes the request back.
      await answersStatus(life, "E6", 4);
      await life.run("lock", "C2", "--asset", fourth, ...why);
      await life.run("status");
      await life.run("lock", "C2", "--asset", fourth, ...why, "--withdraw");
      await life.run("run", "everything");
      await life.run("explain", "customer", "C2");
    },
  },
  {
    name: "loan",
    async live(life) {
      const crm = begin(life, company(1, 2));
      crm.orders.push(order("L1", "C1", [lock("LOCK-1", { forLending: true }), lock("LOCK-2", { forLending: true })]));
      await life.run("run", "everything");
      const [held, first, second] = [numberOf(life, "O1-A1"), numberOf(life, "LOCK-1"), numberOf(life, "LOCK-2")];
      const lend = ["borrow", "C1", "--staff", "S1-1", "--lock", first, "--asset", held, ...travels];
      await life.run(...lend, "--dry-run");
      await life.run(...lend);
      // The CRM wants a lock that is lent already, and then another one.
      sayPerson(life, "S1-2", { borrows: [{ lock: first, assets: ["O1-A2"] }] });
      await life.run("run", "everything");
      sayPerson(life, "S1-2", { borrows: [{ lock: second, assets: ["O1-A2"] }] });
      await life.run("run", "everything");
      await life.run("approve", await openHold(life), ...travels);
      await life.run("run", "everything");
      await life.run("lock", "C1", "--asset", second, ...why);
      await life.run("lock", "C1", "--asset", second, ...why, "--withdraw");
      await life.sandbox("hand", { action: "return-loan", lock: second });
      sayPerson(life, "S1-2", { borrows: [] });
      await life.run("run", "everything");
      await life.run("explain", "customer", "C1");
    },
  },
  {
    name: "every-operation",
    async live(life) {
      const crm = begin(life, company(1, 2));
      crm.customers.push({ id: "C2", creation: "bind" });
      crm.orders.push(order("L1", "C1", [lock("LOCK-1", { forLending: true }), lock("LOCK-2")]));
      life.configuration.more = `limits: { absenceReads: 1, absenceTime: 0s }
policies: { staff: { left: apply }, locks: { locked: apply }, loans: { lent: apply } }
`;
      await life.run("run", "everything");
      crm.customers[0] = { id: "C1", name: "Firm New" };
      sayPerson(life, "S1-1", { name: "Anna New" });
      sayPerson(life, "S1-1", { borrows: [{ lock: numberOf(life, "LOCK-1"), assets: ["O1-A1"] }] });
      crm.staff = crm.staff.filter(({ id }) => id !== "S1-2");
      sayAsset(life, "LOCK-2", { locked: true });
      await life.run("run", "everything");
      await life.run("staff", "reset-password", "S1-1", ...why);
      await life.run("unlock", "C1", "--asset", numberOf(life, "LOCK-2"), ...why);
      await life.run("run", "verify");
      const missing = every.filter((operation) => !life.calls.some((call) => call.operation === operation));
      if (missing.length > 0) throw new Error(`never called: ${missing.join(", ")}`);
      await life.run("run", "everything");
      await life.run("explain", "customer", "C1");
      await life.run("explain", "customer", "C2");
    },
  },
];
