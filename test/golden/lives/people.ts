import { company, type Company, type Person } from "../company.ts";
import { openHold, personOf } from "../known.ts";
import type { Life, Living } from "../life.ts";
import { elements, member, text } from "../operations.ts";

const why = ["--reason", "the personnel office said so", "--by", "anna"];

/** A company whose customers are worked on one by one: the audit log has the same order each time. */
export function begin(life: Living, crm: Company): Company {
  return Object.assign(life.company, crm);
}

/** What the CRM says of a person from now on. */
function say(life: Living, id: string, more: Partial<Person>): void {
  life.company.staff = life.company.staff.map((person) => (person.id === id ? { ...person, ...more } : person));
}

/** The CRM no longer lists a person. */
function leave(life: Living, id: string): Person {
  const found = life.company.staff.find((person) => person.id === id);
  if (found === undefined) throw new Error(`nobody is ${id}`);
  life.company.staff = life.company.staff.filter((person) => person !== found);
  return found;
}

/** The passwords that an operation set, oldest first. Recordings hold no password. */
function sent(life: Living, operation: "M1" | "M3"): string[] {
  return life.calls.flatMap((call) => {
    if (call.operation !== operation) return [];
    const accounts = operation === "M1" ? elements(member(call.body, "userList")) : [call.body];
    return accounts.map((account) => text(member(account, "password")));
  });
}

/** Hands a password out that has to be the last one of those. */
async function handOut(life: Living, id: string, passwords: string[]): Promise<void> {
  const handed = await life.run("staff", "password", id, "--by", "anna");
  if (member(handed.json[0] ?? null, "password") !== passwords.at(-1))
    throw new Error(`${id} was handed another password`);
}

export const lives: Life[] = [
  {
    name: "renamed-person",
    async live(life) {
      const crm = begin(life, company(2, 2));
      for (const person of crm.staff)
        if (person.id !== "S2-1") Object.assign(person, { note: "Desk 1", department: "7" });
      await life.run("run", "everything");
      say(life, "S1-1", { name: "Anna New", department: "9" });
      say(life, "S1-2", { mobile: "+4917700799123", note: null });
      say(life, "S2-2", { login: "another", name: "Bert New" });
      await life.run("plan");
      await life.run("run", "everything");
      // On the platform somebody gives a note to one person, whom the CRM renames then.
      const memberGlobalId = personOf(life, "users21");
      await life.sandbox("hand", { action: "rename-person", memberGlobalId, remark: "Reception" });
      say(life, "S2-1", { name: "Carla New" });
      say(life, "S1-1", { note: null });
      await life.run("run", "everything");
      await life.run("status");
      say(life, "S2-1", { note: "Reception" });
      say(life, "S2-2", { login: "users22" });
      life.settings["assumptions.clearedStaffFields"] = "empty";
      await life.run("run", "everything");
      await life.run("run", "everything");
      await life.run("explain", "staff", "S2-1");
    },
  },
  {
    name: "leaver",
    async live(life) {
      begin(life, company(2, 2));
      const limits = "limits: { absenceReads: 2, absenceTime: 24h }\n";
      life.configuration.more = limits;
      await life.run("run", "everything");
      const first = leave(life, "S1-1");
      await life.run("run", "everything");
      life.later(25);
      await life.run("run", "everything");
      // The first one comes back to the account that stayed. The account of the next one is deleted.
      life.company.staff.push(first);
      const second = leave(life, "S2-1");
      life.configuration.more = `${limits}policies: { staff: { left: ask } }\n`;
      await life.run("run", "everything");
      life.later(25);
      await life.run("run", "everything");
      await life.run("approve", await openHold(life), ...why);
      await life.run("run", "everything");
      await life.run("explain", "staff", "S2-1");
      life.company.staff.push({ ...second, holds: [] });
      await life.run("run", "everything");
      await life.run("run", "everything");
      await life.run("report", "entitlements", "--period", "2026-03");
    },
  },
  {
    name: "left-by-status",
    async live(life) {
      const crm = begin(life, company(2, 4));
      life.configuration.sources = life.configuration.sources.replace(
        `{ each: { path: holds, default: [] }, fields: { instanceId: "." } }`,
        `{ each: { path: holds, default: [] }, fields: { instanceId: "." }, when: { path: ^.status, equals: active } }`,
      );
      for (const person of crm.staff) person["status"] = "active";
      say(life, "S1-1", { holds: ["O1-A1", "O1-A2"] });
      say(life, "S1-2", { holds: [] });
      await life.run("run", "everything");
      say(life, "S1-1", { holds: ["O1-A1"] });
      say(life, "S1-3", { status: "left" });
      await life.run("run", "everything");
      // One seat goes from one person to another, and the run is killed between the two calls.
      say(life, "S2-1", { holds: [] });
      say(life, "S2-2", { holds: ["O2-A1", "O2-A2"] });
      life.settings["settle.timeMs"] = 1;
      await life.killedAt({ operation: "M9", nth: 2, when: "before" }, "run", "everything");
      await life.run("run", "verify");
      await life.run("run", "everything");
      life.configuration.more = "policies: { assignments: { revoked: ask } }\n";
      say(life, "S2-3", { holds: [] });
      await life.run("run", "everything");
      await life.run("approve", await openHold(life), ...why);
      await life.run("run", "everything");
      await life.run("run", "everything");
      await life.run("report", "entitlements", "--period", "2026-03");
    },
  },
  {
    name: "moved-person",
    async live(life) {
      begin(life, company(2, 2));
      say(life, "S2-2", { holds: [] });
      await life.run("run", "everything");
      say(life, "S1-1", { customer: "C2", holds: ["O2-A2"] });
      await life.run("run", "everything");
      await life.run("explain", "staff", "S1-1");
      say(life, "S1-1", { customer: "C1", holds: ["O1-A1"] });
      await life.run("run", "everything");
      life.configuration.more = "policies: { staff: { moved: apply } }\n";
      say(life, "S2-1", { customer: "C1", holds: [] });
      await life.run("run", "everything");
      await life.run("run", "everything");
      await life.run("explain", "staff", "S2-1");
      await life.run("explain", "customer", "C2");
    },
  },
  {
    name: "staff-batch",
    async live(life) {
      const crm = begin(life, company(1, 1));
      crm.staff = Array.from({ length: 130 }, (_, index) => {
        const number = String(index + 1).padStart(3, "0");
        return { id: `P${number}`, customer: "C1", holds: index === 0 ? ["O1-A1"] : [] };
      });
      await life.sandbox("faults", { operation: "M1", fault: "partialM1", drop: 3, times: 1 });
      await life.run("run", "everything");
      await life.run("explain", "staff", "P100");
      // One of those who were refused is refused again, until the CRM changes something about this person.
      await life.sandbox("faults", { operation: "M1", fault: "partialM1", drop: 1, times: 2 });
      await life.run("run", "everything");
      await life.run("run", "everything");
      await life.run("status");
      say(life, "P100", { mobile: "+4917700799123" });
      await life.run("run", "everything");
      await life.run("run", "everything");
    },
  },
  {
    name: "passwords",
    async live(life) {
      const crm = begin(life, company(1, 2));
      life.configuration.sources += "          password: password\n";
      await life.run("run", "everything");
      await handOut(life, "S1-1", sent(life, "M1").slice(0, 1));
      await life.run("staff", "password", "S1-1", "--by", "bert");
      await life.run("staff", "reset-password", "S1-1", ...why);
      await handOut(life, "S1-1", sent(life, "M3"));
      await life.sandbox("faults", { operation: "M3", fault: "status299", code: "50003", times: 1 });
      await life.run("staff", "reset-password", "S1-2", ...why);
      await life.run("staff", "reset-password", "S1-2", "--withdraw", ...why);
      // From now on the CRM gives the passwords.
      life.settings["assumptions.passwordSource"] = "crm";
      say(life, "S1-2", { password: "Given-by-CRM-2" });
      crm.staff.push({ id: "S1-3", customer: "C1", password: "Given-by-CRM-3" }, { id: "S1-4", customer: "C1" });
      await life.run("run", "everything");
      await life.run("staff", "reset-password", "S1-2", "--from-crm", ...why);
      say(life, "S1-4", { password: "Given-by-CRM-4" });
      await life.run("run", "everything");
      await life.run("explain", "staff", "S1-2");
      const given = [...sent(life, "M1").slice(-2), ...sent(life, "M3").slice(-1)].join();
      if (given !== "Given-by-CRM-3,Given-by-CRM-4,Given-by-CRM-2")
        throw new Error("a password of the CRM was not sent");
    },
  },
];
