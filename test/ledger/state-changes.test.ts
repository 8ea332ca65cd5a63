import * as fc from "fast-check";
import { expect, it } from "vitest";
import { formatKey } from "../../src/crm/keys.ts";
import type { RecordKey } from "../../src/crm/model.ts";
import { theCrm } from "../../src/engine/model/requests.ts";
import { applyChange, type Known, type StateChange } from "../../src/engine/model/state.ts";
import { withNumbers } from "../../src/engine/model/references.ts";
import { customerRecord, orderRecord } from "../support/world/records.ts";
import { LedgerWorld } from "../support/world/ledger-world.ts";
import { rowsOf } from "../support/world/start.ts";

const runs = 120;
const key = (id: string): RecordKey => ({ namespace: "crm", id });

/** One thing that is learned; names are made different for each sequence. */
type Step = (name: (short: string) => string) => StateChange | { fix: string; quantity: number };

const enterprises = ["E-1", "E-2", "E-é", "not an id"];
const people = ["S-1", "S-2", "S-10", "S-ß"];
const profile = { userName: "u", name: "n", remark: null, mobile: null, departmentId: null };
const owner = fc.constantFrom("C", "C", "other");
const staff = fc.constantFrom(...people);
const enterprise = fc.constantFrom("E-1", "E-1", "E-1", ...enterprises);
const assetNumber = fc.constantFrom("A-1", "A-2", "A-10");
const member = fc.constantFrom("M-1", "M-2", "M-3", "", "a member");
const adoptedOr = (origin: "created" | "granted" | "placed"): ("adopted" | typeof origin)[] => ["adopted", origin];

/** An order that the CRM does not know, which leaves a customer for another until nothing of it is left. */
const leaving: Step[] = [
  (name) => ({
    type: "order-placed",
    order: key(name("O-9")),
    customer: key(name("C")),
    channelOrderId: name("CO-O-9"),
    bodyHash: "hash",
    version: 1,
    products: 1,
    operationId: null,
    origin: "placed",
    licenceOrders: [],
  }),
  (name) => ({ type: "order-leaving", order: key(name("O-9")), customer: key(name("C")), unclear: null }),
  (name) => ({ type: "order-moved", order: key(name("O-9")), from: key(name("C")), customer: key(name("other")) }),
  (name) => ({ type: "order-left", order: key(name("O-9")), customer: key(name("C")) }),
];

/** Every type of change, and the numbers that the ledger fixes by itself. */
const steps: Record<StateChange["type"] | "fix", fc.Arbitrary<Step>> = {
  linked: fc
    .record({ enterprise, owner, origin: fc.constantFrom("created" as const, "adopted" as const, "bound" as const) })
    .map(({ enterprise: gid, owner: whose, origin }) => (name) => ({
      type: "linked",
      customer: key(name(whose)),
      link: {
        enterpriseGlobalId: name(gid),
        channelCode: "crm",
        channelCustomerId: name("N"),
        origin,
        examined: origin === "created",
      },
    })),
  unlinked: owner.map((whose) => (name) => ({
    type: "unlinked",
    customer: key(name(whose)),
    enterpriseGlobalId: name("E-1"),
    by: "anna",
    reason: "wrong",
  })),
  "acknowledged-ended": owner.map((whose) => (name) => ({ type: "acknowledged-ended", customer: key(name(whose)) })),
  examined: owner.map((whose) => (name) => ({ type: "examined", customer: key(name(whose)) })),
  "platform-customers": fc
    .record({
      enterprise,
      ids: fc.uniqueArray(fc.constantFrom("P-1", "P-2", "P-10", "not usable")),
      flag: fc.boolean(),
    })
    .map(({ enterprise: gid, ids, flag }) => (name) => ({
      type: "platform-customers",
      enterpriseGlobalId: name(gid),
      customers: ids.map((id) => ({
        customerId: id,
        isDefault: flag,
        channelCode: "crm",
        channelCustomerId: name("N"),
      })),
    })),
  acknowledged: fc
    .record({ owner, name: fc.constantFrom("one", "two"), address: fc.constantFrom(null, "street") })
    .map(({ owner: whose, ...fields }) => (name) => ({
      type: "acknowledged",
      customer: key(name(whose)),
      fields: { ...fields, branchName: "B" },
    })),
  "members-protected": fc
    .record({ enterprise, ids: fc.uniqueArray(fc.constantFrom("M-1", "M-7", "M-8")) })
    .map(({ enterprise: gid, ids }) => (name) => ({
      type: "members-protected",
      enterpriseGlobalId: name(gid),
      memberGlobalIds: ids.map((id) => name(`${id}-${gid}`)),
      reason: "made with it",
    })),
  "order-placed": fc
    .record({ owner, order: fc.constantFrom("O-1", "O-2", "O-10"), origin: fc.constantFrom(...adoptedOr("placed")) })
    .map(({ owner: whose, order, origin }) => (name) => ({
      type: "order-placed",
      order: key(name(whose === "C" ? order : `${order}-other`)),
      customer: key(name(whose)),
      channelOrderId: name(`CO-${order}`),
      bodyHash: "hash",
      version: 1,
      products: 1,
      operationId: null,
      origin: origin === "adopted" ? "adopted" : "placed",
      licenceOrders: [{ sequence: 1, licenseType: "cloud_account", platformCustomerId: "P-1", licenseOrderId: "L" }],
    })),
  "order-moved": fc // Whoever it moved to takes it.
    .record({ order: fc.constantFrom("O-1", "O-9") })
    .map(({ order }) => (name) => ({
      type: "order-moved",
      order: key(name(order)),
      from: key(name("other")),
      customer: key(name("C")),
    })),
  "order-left": fc // The CRM does not know the order: nothing of it is there once it left.
    .record({ owner, order: fc.constant("O-9") })
    .map(({ owner: whose, order }) => (name) => ({
      type: "order-left",
      order: key(name(order)),
      customer: key(name(whose)),
    })),
  "order-leaving": fc // Whose it is that something was found of is not this customer.
    .record({ unclear: fc.constantFrom(null, "shown otherwise") })
    .map(({ unclear }) => (name) => ({
      type: "order-leaving",
      order: key(name("O-1")),
      customer: key(name("other")),
      unclear,
    })),
  "order-bought": fc
    .record({ owner, order: fc.constantFrom("O-1", "O-2"), n: fc.nat(99) })
    .map(({ owner: whose, order, n }) => (name) => ({
      type: "order-bought",
      order: key(name(whose === "C" ? order : `${order}-other`)),
      customer: key(name(whose)),
      channelOrderId: name(`CO-${order}-${n}`),
      version: 1,
      items: [{ instanceId: "I", unit: 0, number: name("A-1"), products: ["P"], packages: [] }],
      licenceOrders: [],
      products: 1,
      operationId: null,
      origin: "found",
    })),
  "order-removed": fc
    .record({ owner, order: fc.constantFrom("O-1", "O-2") })
    .map(({ owner: whose, order }) => (name) => ({
      type: "order-removed",
      order: key(name(whose === "C" ? order : `${order}-other`)),
      customer: key(name(whose)),
      items: [{ instanceId: "I", unit: 0, number: null, product: null, channelOrderId: null, licenseOrderId: null }],
      products: 1,
      operationId: null,
      origin: "found",
    })),
  "order-priced": fc.constantFrom("O-1", "O-2").map((order) => (name) => ({
    type: "order-priced",
    order: key(name(order)),
    customer: key(name("C")),
    version: 1,
    items: [{ product: null, from: null, to: { currency: "EUR", minor: 1 } }],
  })),
  "order-agreed": fc
    .record({ order: fc.constantFrom("O-1", "O-2"), bodyHash: fc.constantFrom("hash", "other") })
    .map(({ order, bodyHash }) => (name) => ({ type: "order-agreed", order: key(name(order)), version: 2, bodyHash })),
  "numbers-ended": fc
    .constantFrom(["861"], ["862", "863"])
    .map((numbers) => (name) => ({ type: "numbers-ended", numbers: numbers.map((item) => name(item)) })),
  "numbers-taken": fc.constantFrom(["1", "2"], ["2", "3", "4"]).map((numbers) => (name) => ({
    type: "numbers-taken",
    numbers: numbers.map((item) => name(item)),
    operationId: "op",
  })),
  fix: fc
    .record({ order: fc.constantFrom("O-1", "O-2", "O-10"), quantity: fc.integer({ min: 1, max: 3 }) })
    .map(({ order, quantity }) => (name) => ({ fix: name(order), quantity })),
  "staff-linked": fc.record({ owner, staff, member }).map(({ owner: whose, staff: who, member: id }) => (name) => ({
    type: "staff-linked",
    staff: key(name(who)),
    customer: key(name(whose)),
    enterpriseGlobalId: name("E-1"),
    memberGlobalId: id.startsWith("M") ? name(id) : id,
    origin: "created",
    profile,
  })),
  "staff-edited": fc.record({ owner, staff, note: fc.constantFrom("r1", "r2") }).map((edit) => (name) => ({
    type: "staff-edited",
    staff: key(name(edit.staff)),
    customer: key(name(edit.owner)),
    profile: { ...profile, remark: edit.note, unread: ["remark"] },
  })),
  "staff-unlinked": fc.record({ owner, staff }).map(({ owner: whose, staff: who }) => (name) => ({
    type: "staff-unlinked",
    staff: key(name(who)),
    customer: key(name(whose)),
    operationId: null,
  })),
  "enterprise-code": fc
    .record({ enterprise, code: fc.constantFrom("X1", "X2") })
    .map(({ enterprise: gid, code }) => (name) => ({
      type: "enterprise-code",
      enterpriseGlobalId: name(gid),
      code,
    })),
  "asset-granted": fc
    .record({ owner, staff, member, assetNumber })
    .map(({ owner: whose, staff: who, member: id, assetNumber: asset }) => {
      return (name) => ({
        type: "asset-granted",
        assetNumber: name(asset),
        staff: key(name(who)),
        customer: key(name(whose)),
        memberGlobalId: id,
        origin: "granted",
        operationId: null,
      });
    }),
  "asset-revoked": assetNumber.map((asset) => (name) => ({
    type: "asset-revoked",
    assetNumber: name(asset),
    operationId: null,
  })),
  "request-made": fc
    .record({
      owner,
      assetNumber,
      wanted: fc.constantFrom("locked" as const, "unlocked" as const),
      by: fc.constantFrom("tester", theCrm),
    })
    .map(({ owner: whose, assetNumber: asset, wanted, by }) => (name) => ({
      type: "request-made",
      customer: key(name(whose)),
      request: {
        of: "lock",
        about: name(asset),
        wanted,
        details: { licenseType: "normal_recover_usbkey", largeCustomer: false },
        by,
        reason: "lost",
      },
    })),
  "request-answered": fc
    .record({
      assetNumber,
      wanted: fc.constantFrom("locked" as const, "unlocked" as const),
      status: fc.constantFrom(1 as const, 2 as const, 3 as const, 4 as const),
    })
    .map(({ assetNumber: asset, wanted, status }) => (name) => ({
      type: "request-answered",
      of: "lock",
      about: name(asset),
      wanted,
      answer: { status },
      operationId: "op",
    })),
  "request-withdrawn": fc.record({ owner, assetNumber }).map(({ owner: whose, assetNumber: asset }) => (name) => ({
    type: "request-withdrawn",
    customer: key(name(whose)),
    of: "lock",
    about: name(asset),
  })),
  "licence-types-shown": fc.constant((name) => ({ type: "licence-types-shown", types: [name("cloud_account")] })),
  observed: fc.constant((name) => ({
    type: "observed",
    customer: key(name("C")),
    kind: "member",
    subject: "M",
    body: { shown: true },
  })),
  "observed-all": fc.constant((name) => ({
    type: "observed-all",
    customer: key(name("C")),
    kinds: ["member", "asset"],
    shown: [{ kind: "member", subject: "another", body: {} }],
  })),
  "observation-ended": fc.constant((name) => ({
    type: "observation-ended",
    customer: key(name("C")),
    kind: "member",
    subject: "another",
  })),
  "observation-failed": fc.constant((name) => ({ type: "observation-failed", customer: key(name("C")) })),
  "customer-unread": fc.boolean().map((ofAllOrders) => (name) => ({
    type: "customer-unread",
    customer: key(name("other")),
    why: "could not be read",
    ofAllOrders,
  })),
  "customer-read": fc.constant((name) => ({ type: "customer-read", customer: key(name("other")) })),
  "done-by-hand": fc.constant((name) => ({
    type: "done-by-hand",
    stream: "staff",
    key: key(name("S-1")),
    bodyHash: "hash",
    by: "anna",
    reason: "done",
    unseen: ["mobile number"],
  })),
  "secrets-wiped": fc.constant(() => ({ type: "secrets-wiped", ref: "orders/crm/O", version: 1 })),
};

/** Order counts wherever the ledger gives one. */
function plain(known: Known): object {
  return {
    ...known,
    placedOrders: [...known.placedOrders],
    staffLinks: [...known.staffLinks],
    protectedMembers: [...known.protectedMembers].sort(),
  };
}

/**
 * Writes one step and applies it in memory. What the ledger refuses as a contradiction is neither; and nothing is
 * learned of an enterprise that the customer was linked with before and is not any more.
 */
async function taken(
  world: LedgerWorld,
  step: ReturnType<Step>,
  before: { known: Known; linkedWith: Set<string>; customer: RecordKey },
): Promise<Known> {
  const { known, linkedWith, customer } = before;
  const { ledger } = world;
  world.now += 1;
  if ("fix" in step) {
    const wanted = [
      { instanceId: "I", quantity: step.quantity, given: [], wireNumber: (digits: string) => `86${digits}` },
    ];
    return withNumbers(
      known,
      (await ledger.state.write((rows, at) => rows.order.numbers.fixNumbers(key(step.fix), customer, wanted, at)))
        .fixed,
    );
  }
  const gid = step.type === "linked" ? step.link.enterpriseGlobalId : undefined;
  if ("enterpriseGlobalId" in step && step.type !== "staff-linked") {
    const { enterpriseGlobalId } = step;
    if (linkedWith.has(enterpriseGlobalId) && known.link?.enterpriseGlobalId !== enterpriseGlobalId) return known;
  }
  const enterpriseFacts =
    gid === undefined ? undefined : await ledger.state.readTogether((rows) => rows.enterprise.facts(gid));
  let at: string;
  try {
    at = await ledger.state.record(customer, [step]);
  } catch {
    return known;
  }
  if (gid !== undefined && step.type === "linked" && formatKey(step.customer) === formatKey(customer))
    linkedWith.add(gid);
  return applyChange(known, step, { customer, at, enterprise: enterpriseFacts });
}

it(
  "what is learned of a customer, applied in memory, is what its rows say when they are read again",
  { tags: "long" },
  async () => {
    const world = await LedgerWorld.open();
    const numbers = Array.from({ length: runs + 1 }, (_, index) => index);
    await world.read(
      "customers",
      numbers.map((number) => ({ customers: customerRecord(`C~${number}`) })),
    );
    await world.read(
      "orders",
      numbers.flatMap((number) =>
        ["O-1", "O-2", "O-10"].map((order) => ({ orders: orderRecord(`${order}~${number}`, `C~${number}`) })),
      ),
    );
    let number = 0;
    const changed = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(...Object.values(steps)), { minLength: 20, maxLength: 40, size: "max" }),
        async (sequence) => {
          number = (number % runs) + 1;
          const suffix = number;
          const name = (short: string): string => (short === "not an id" ? "not an id" : `${short}~${suffix}`);
          const customer = key(name("C"));
          const linkedWith = new Set<string>();
          let known = await world.ledger.state.known(customer);
          for (const make of sequence) {
            const step = make(name);
            const next = await taken(world, step, { known, linkedWith, customer });
            if (next !== known) changed.add("fix" in step ? "fix" : step.type);
            known = next;
            expect(plain(known)).toEqual(plain(await world.ledger.state.known(customer)));
          }
        },
      ),
      { numRuns: runs, seed: 20_261_001, endOnFailure: true, examples: [[leaving]] },
    );
    // What stands no more is ended: of a customer there is one link and one acknowledged form, whatever came before.
    for (const table of ["link", "acknowledged"])
      expect(
        rowsOf(
          world.ledger.path,
          `select customer_id from ${table} where to_at is null group by namespace, customer_id having count(*) > 1`,
        ),
      ).toEqual([]);
    // Each change that a customer's state knows of was among them, and changed something.
    expect([...changed].sort()).toEqual([
      "acknowledged",
      "acknowledged-ended",
      "asset-granted",
      "asset-revoked",
      "enterprise-code",
      "examined",
      "fix",
      "linked",
      "members-protected",
      "numbers-ended",
      "order-agreed",
      "order-bought",
      "order-left",
      "order-moved",
      "order-placed",
      "order-removed",
      "platform-customers",
      "request-answered",
      "request-made",
      "request-withdrawn",
      "staff-edited",
      "staff-linked",
      "staff-unlinked",
      "unlinked",
    ]);
  },
);
