import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { ContradictedRow } from "../../src/sandbox/contradicted-rows.ts";
import { contradictedRows } from "../../src/sandbox/contradicted-rows.ts";
import { document, world } from "../support/cli.ts";
import type { Parsed, World } from "../support/cli.ts";
import { canary, company } from "../support/world/crm.ts";
import type { GivenOrder } from "../support/world/crm.ts";

/** Longer than anything has to settle in the world of these tests. */
const settleMs = 250;

/**
 * A case for each row of A1–A43 that the services can contradict: it is written down with its evidence, what rests on
 * it is not sent, everything else goes on, and after a person accepted it the rest is sent too.
 */
interface Case {
  /** What happens in the CRM before the services contradict the row, and is done. */
  before?: (w: World) => void;
  /** What shows the contradiction. */
  shows: (w: World) => void;
  /** How many runs it takes; one where nothing is said. */
  runs?: number;
  /** It shows once the platform is read back, a settle time later. */
  readBack?: true;
  evidence: string;
  about?: string[];
  /** What happens next, when the services do as was assumed again. */
  next?: (w: World) => void;
  /** Records that wait for it then. */
  stopped?: string[];
  /** Writing calls of that run: what goes on. */
  calls: Record<string, number>;
  /** Writing calls of the run after it was accepted. */
  after?: Record<string, number>;
}

const order = (w: World, id: string, customer: string, type = "cloud_account"): void =>
  void w.orders.push({ id, customer, assets: [{ id: `${id}-A1`, type: type as "cloud_account" }] });

const rename = (w: World, index: number, fields: { name?: string; address?: string | null } = {}): void => {
  const customer = w.customers[index];
  if (customer !== undefined) w.customers[index] = { ...customer, name: `${customer.name} anew`, ...fields };
};

const person = (w: World, id: string, customer: string, holds: string[] = []): void =>
  void w.staff.push({ id, customer, login: `zqcanarylogin${id.toLowerCase()}`, holds });

const changed = (w: World, id: string, fields: Partial<GivenOrder>): void => {
  w.orders = w.orders.map((row) => (row.id === id ? { ...row, ...fields } : row));
};

const cancel = (w: World, id: string): void => changed(w, id, { cancelled: true });

const lock = (w: World, id: string): void =>
  changed(w, id, { assets: [{ id: `${id}-A1`, type: "normal_recover_usbkey", locked: true }] });

const callAnew = (w: World, id: string): void => {
  w.staff = w.staff.map((row) => (row.id === id ? { ...row, name: `${canary.person} anew ${id}` } : row));
};

const leave = (w: World, id: string): void => {
  w.staff = w.staff.filter((row) => row.id !== id);
};

/** Somebody makes an account on the platform's own pages, in the enterprise of C1. */
const staffByHand = (w: World, userName: string): void => {
  const [link] = w.rows<{ id: string }>("select enterprise_global_id as id from link where customer_id = 'C1'");
  w.sandbox.hand({ action: "add-person", enterpriseGlobalId: link?.id ?? "", userName, name: `${canary.person} S8` });
};

const refusedOrder = (field: string, about: string[]): Case => ({
  shows: (w) => order(w, "O8", "C1"),
  evidence: `E5 was refused with 13004 naming ${field}`,
  about,
  next: (w) => (order(w, "O9", "C1"), rename(w, 1)),
  stopped: ["orders crm/O9"],
  calls: { E4: 1 },
  after: { E5: 1 },
});

const packaged = (w: World, id: string, customer: string): void =>
  void w.orders.push({
    id,
    customer,
    assets: [`${id}-A1`],
    packages: [{ id: `${id}-K1`, parent: `${id}-A1` }],
    products: [
      { id: `${id}-P1`, parent: `${id}-K1` },
      { id: `${id}-P2`, parent: `${id}-A1` },
    ],
  });

const refusedPackage = (field: string): Case => ({
  shows: (w) => packaged(w, "O8", "C1"),
  evidence: `E5 was refused with 13004 naming ${field}`,
  next: (w) => (packaged(w, "O9", "C2"), order(w, "O10", "C2")),
  stopped: ["orders crm/O9"],
  calls: { E5: 1 },
  after: { E5: 1 },
});

const cases: Record<ContradictedRow, Case> = {
  A1: {
    shows: (w) => rename(w, 0),
    evidence: "E4 answered with code 0 under HTTP 299",
    about: ["E4"],
    next: (w) => rename(w, 1),
    calls: { E4: 2 },
  },
  A2: {
    shows: (w) => rename(w, 0),
    evidence: "E4 answered with the code 77777, which the contract does not list for it",
    about: ["E4"],
    next: (w) => rename(w, 1),
    calls: { E4: 2 },
  },
  A8: {
    shows: (w) => {
      w.customers.push({ id: "C3" });
      order(w, "O8", "C3");
    },
    runs: 2,
    evidence: "E3 did not show an enterprise that E2 had made, over the settle time",
    next: (w) => (w.customers.push({ id: "C4" }), order(w, "O9", "C1")),
    stopped: ["customers crm/C4"],
    calls: { E5: 2 },
    after: { E2: 1 },
  },
  A9: {
    before: (w) => void (w.environment["CRM_SYNC__assumptions__otherChannelCodes"] = '["legacy"]'),
    shows: (w) => {
      w.customers.push({ id: "C3" });
      order(w, "O8", "C3");
    },
    evidence: "E3 showed an enterprise that E2 had made under another channel code",
    next: (w) => rename(w, 1),
    calls: { E4: 1 },
  },
  A10: {
    shows: (w) => {
      w.sandbox.faults.add({ operation: "E2", fault: "appliedNoReply", times: 1 });
      w.customers.push({ id: "C3" });
    },
    runs: 2,
    evidence: "E3 showed two enterprises after one call that makes one",
    next: (w) => (w.customers.push({ id: "C4" }), rename(w, 1)),
    stopped: ["customers crm/C4"],
    calls: { E4: 1 },
    after: { E2: 1 },
  },
  A12: {
    ...refusedOrder("customerId", ["cloud_account"]),
    next: (w) => (order(w, "O9", "C1"), order(w, "O10", "C2", "normal_recover_usbkey")),
    calls: { E5: 1 },
  },
  A13: {
    shows: (w) => w.customers.push({ id: "C3" }),
    evidence: "E3 answered null or without data",
    calls: { E2: 1 },
  },
  A14: {
    shows: (w) => rename(w, 0, { address: null }),
    evidence: "E4 was refused with 13004 naming address",
    next: (w) => (rename(w, 1, { address: null }), rename(w, 2)),
    before: (w) => w.customers.push({ id: "C3" }),
    stopped: ["customers crm/C2"],
    calls: { E4: 1 },
    after: { E4: 1 },
  },
  A15: {
    before: (w) => {
      w.environment["CRM_SYNC__assumptions__syncMode"] = "async";
      w.environment["CRM_SYNC__settle__asyncPauseMs"] = "50";
      w.environment["CRM_SYNC__settle__asyncDeadlineMs"] = "1000";
      w.environment["CRM_SYNC__settle__maxWaitMs"] = "4000";
    },
    shows: (w) => order(w, "O8", "C1"),
    evidence: "an asynchronous E5 was answered as taken, and the platform did not show it by its deadline",
    next: (w) => (order(w, "O9", "C2"), rename(w, 1)),
    stopped: ["orders crm/O9"],
    calls: { E4: 1 },
    after: { E5: 1 },
  },
  A16: {
    shows: (w) => w.orders.push({ id: "O8", customer: "C1", assets: ["O8-A1"], products: twoProducts("O8-A1") }),
    evidence: "of an E5 some products were shown over the settle time, and others never",
    next: (w) => {
      const [one, other] = [{ id: "O9-A1" }, { id: "O9-A2", type: "softkey" as const }];
      w.orders.push({ id: "O9", customer: "C2", assets: [one, other] });
      order(w, "O10", "C2");
    },
    stopped: ["orders crm/O9"],
    calls: { E5: 1 },
    after: { E5: 1 },
  },
  A17: {
    shows: (w) => order(w, "O8", "C1"),
    evidence: "E5 answered with other sequences than were sent",
    next: (w) => (order(w, "O9", "C1"), rename(w, 1)),
    stopped: ["orders crm/O9"],
    calls: { E4: 1 },
    after: { E5: 1 },
  },
  A19: {
    before: (w) => {
      w.environment["CRM_SYNC__policies__orders__cancelled"] = "apply";
      order(w, "O8", "C1");
      order(w, "O9", "C2");
      order(w, "O10", "C2", "softkey");
    },
    shows: (w) => cancel(w, "O8"),
    evidence: "E5 was refused with 13004 naming srcLicenseOrderId",
    about: ["cloud_account"],
    next: (w) => (cancel(w, "O9"), cancel(w, "O10")),
    stopped: ["orders crm/O9"],
    calls: { E5: 1 },
    after: { E5: 1 },
  },
  A20: {
    shows: (w) => limited(w, "O8", "C1"),
    evidence: "E5 was refused with 13004 naming limitEndDate",
    about: ["limits of products"],
    next: (w) => (limited(w, "O9", "C2"), order(w, "O10", "C2")),
    stopped: ["orders crm/O9"],
    calls: { E5: 1 },
    after: { E5: 1 },
  },
  A21: refusedOrder("limitTimeDuration", ["limitTimeDuration"]),
  A22: refusedOrder("productType", ["productType tool"]),
  A23: refusedPackage("products"),
  A24: refusedPackage("parentMerchandiseNum"),
  A25: {
    shows: (w) => w.orders.push({ id: "O8", customer: "C1", assets: [{ id: "O8-A1", quantity: 120 }] }),
    evidence: "E9 handed out something else than ten digits that begin with an expected one",
    next: (w) => rename(w, 1),
    stopped: ["orders crm/O8"],
    calls: { E4: 1 },
    after: { E5: 1, E9: 1 },
  },
  A26: {
    before: (w) => {
      w.environment["CRM_SYNC__policies__locks__locked"] = "apply";
      order(w, "O8", "C1", "normal_recover_usbkey");
      order(w, "O9", "C2", "normal_recover_usbkey");
    },
    shows: (w) => {
      w.sandbox.faults.add({ operation: "E6", fault: "appliedNoReply", times: 1 });
      lock(w, "O8");
    },
    evidence: "a lock that was switched again answered that it cannot be",
    about: ["a number"],
    next: (w) => lock(w, "O9"),
    calls: { E6: 1 },
  },
  A27: {
    shows: (w) => person(w, "S8", "C1"),
    runs: 3,
    evidence: "M5 gave 3 lists of one enterprise in a row that do not add up",
    about: ["crm/C1"],
    next: (w) => {
      w.staff = w.staff.map((row) => (row.id === "S1-1" || row.id === "S2-1" ? { ...row, holds: [] } : row));
    },
    stopped: ["staff crm/S1-1"],
    calls: { M1: 1, M9: 1 },
    after: { M9: 1 },
  },
  A28: {
    shows: (w) => {
      const [known] = w.rows<{ code: string }>(
        `select code from enterprise_code e join link l on l.enterprise_global_id = e.enterprise_global_id
         where customer_id = 'C1'`,
      );
      for (const ending of ["", known?.code]) staffByHand(w, `zqcanarylogins8${ending}`);
      person(w, "S8", "C1");
    },
    evidence: "two members of staff fit one account name",
    about: ["crm/C1"],
    next: (w) => person(w, "S9", "C1"),
    calls: { M1: 1 },
  },
  A29: {
    shows: (w) => (person(w, "S8", "C1"), person(w, "S9", "C1")),
    evidence: "M1 appended two endings to names of one call",
    about: ["crm/C1"],
    next: (w) => (person(w, "S10", "C1"), person(w, "S11", "C2")),
    stopped: ["staff crm/S10"],
    calls: { M1: 1 },
    after: { M1: 1 },
  },
  A31: {
    shows: (w) => person(w, "S8", "C1"),
    evidence: "M1 was refused with 30002",
    next: (w) => person(w, "S9", "C1"),
    calls: { M1: 1 },
  },
  A33: {
    before: (w) => w.orders.push({ id: "O8", customer: "C1", assets: [{ id: "O8-A1" }, { id: "O8-A2" }] }),
    shows: (w) => person(w, "S8", "C1", ["O8-A1", "O8-A2"]),
    runs: 2,
    evidence: "of the numbers of one M9 some were shown as meant over the settle time, and others never",
    next: (w) => rename(w, 1),
    calls: { E4: 1 },
  },
  A34: {
    shows: (w) => person(w, "S8", "C1"),
    evidence: "M5 and M6 disagree about who holds what",
    next: (w) => rename(w, 1),
    calls: { E4: 1 },
  },
  A35: {
    shows: (w) => person(w, "S8", "C1"),
    evidence: "an asset number was shown with two holders",
    next: (w) => rename(w, 1),
    calls: { E4: 1 },
  },
  A36: {
    before: (w) => {
      w.extra = `limits: { absenceReads: 1, absenceTime: 0s, taking: { enterprise: { floor: 9, share: 1 } } }
policies: { staff: { left: apply } }
`;
      for (const id of ["S8", "S9"]) person(w, id, "C1");
    },
    shows: (w) => leave(w, "S8"),
    runs: 2,
    evidence: "M4 answered 60002 for a member whom M5 goes on showing",
    next: (w) => (leave(w, "S9"), rename(w, 1)),
    stopped: ["staff crm/S8", "staff crm/S9"],
    calls: { E4: 1 },
    after: { M4: 2 },
  },
  A39: refusedOrder("srcLicenseOrderId", ["cloud_account"]),
  A41: {
    before: (w) => void [person(w, "S8", "C1"), person(w, "S9", "C1"), person(w, "S10", "C2")],
    shows: (w) => callAnew(w, "S8"),
    evidence: "M5 shows otherwise what an accepted M2 had said",
    about: ["crm/C1"],
    next: (w) => (callAnew(w, "S9"), callAnew(w, "S10")),
    stopped: ["staff crm/S9"],
    calls: { M2: 1 },
    after: { M2: 1 },
  },
  A43: {
    before: (w) => {
      w.environment["CRM_SYNC__assumptions__visibleLicenseTypes"] = '["cloud_account", "softkey"]';
      w.environment["CRM_SYNC__settle__maxWaitMs"] = "4000";
    },
    shows: (w) => order(w, "O8", "C1", "softkey"),
    readBack: true,
    evidence: "nothing was shown of a licence type that the settings call visible, a settle time after an E5",
    about: ["softkey"],
    next: (w) => {
      // Neither of the two arrives: the one of a type that is shown is sent again, and the other waits for a person.
      w.sandbox.faults.add({ operation: "E5", fault: "resetBefore", times: 2 });
      order(w, "O9", "C1", "softkey");
      order(w, "O10", "C2");
    },
    calls: { E5: 3 },
  },
};

const limited = (w: World, id: string, customer: string): void => {
  const product = {
    id: `${id}-P1`,
    parent: `${id}-A1`,
    limitStart: "2027-01-01T00:00:00Z",
    limitEnd: "2028-01-01T00:00:00Z",
  };
  w.orders.push({ id, customer, assets: [`${id}-A1`], products: [product] });
};

const twoProducts = (parent: string): { id: string; parent: string }[] => [
  { id: `${parent}-P1`, parent },
  { id: `${parent}-P2`, parent },
];

async function standingOf(w: World, row: string): Promise<Parsed> {
  const all = document(await w.run("assumptions", "--json")).assumptions;
  expect(all).toHaveLength(43);
  return all.find((item: Parsed) => item.id === row);
}

const waiting = (w: World): string[] =>
  w
    .rows<{ text: string }>(
      "select stream || ' ' || namespace || '/' || id as text from record where deferred_code = 'assumption.contradicted' order by 1",
    )
    .map((item) => item.text);

it.each(contradictedRows.map((row) => [row, cases[row]] as const))(
  "%s is contradicted with its evidence, stops what rests on it, and nothing else",
  { tags: "long" },
  async (row, { before, shows, runs = 1, readBack, evidence, about = [], next, stopped = [], calls, after }) => {
    const w = await world({ records: company(2, 1) });
    w.environment["CRM_SYNC__settle__maxWaitMs"] = "400";
    before?.(w);
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    expect(await standingOf(w, row)).toMatchObject({ contradicted: null });

    w.sandbox.contradict([row]);
    shows(w);
    w.write();
    for (let run = 0; run < runs; run += 1) await w.run("run", "everything");
    if (readBack === true) {
      await sleep(settleMs);
      await w.run("run", "verify");
    }
    const found = await standingOf(w, row);
    expect(found).toMatchObject({ standing: "contradicted", contradicted: { evidence } });
    expect(found.contradicted.about.map((item: string) => item.replace(/^\d{10}$/u, "a number"))).toEqual(
      row === "A35" ? ["a number"] : about,
    );
    const told = await w.run("assumptions");
    expect(told.exitCode).toBe(3);
    expect(told.stdout).toContain(evidence);
    expect((await w.run("assumptions", "--letter")).stdout).toContain(`against it: ${evidence}`);

    w.sandbox.contradict([]);
    next?.(w);
    w.write();
    const ran = await w.does("run", "everything");
    expect(ran.calls).toEqual(calls);
    expect(waiting(w)).toEqual(stopped);

    expect((await w.run("assumptions", "accept", row, "--reason", "asked the owner of the service")).exitCode).toBe(0);
    expect((await w.run("assumptions", "accept", row, "--reason", "asked again")).exitCode).toBe(64);
    expect(await standingOf(w, row)).toMatchObject({ contradicted: null, accepted: { evidence } });
    expect((await w.does("run", "everything")).calls).toEqual(after ?? {});
    expect(waiting(w)).toEqual([]);
    expect((await w.run("audit", "verify")).exitCode).toBe(0);
  },
);
