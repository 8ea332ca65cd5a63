import type { Problem } from "../base/errors.ts";
import { formatKey, subjectOf } from "../crm/keys.ts";
import type { LicenseType, RecordKey, Stream } from "../crm/model.ts";
import type { EngineDependencies } from "../engine/customer.ts";
import { isShown } from "../engine/evidence.ts";
import type { OrderWithTree } from "../engine/model/desired.ts";
import type { StateChange } from "../engine/model/state.ts";
import { customerNumbers, type LoadedCustomer } from "../engine/plan/input.ts";
import { nothingRead, type ReadBack } from "../engine/plan/blocks.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { underRunLock, type Application } from "../operate/application.ts";
import { SnapshotReader, type AssetReading, type Snapshot } from "../platform/snapshot.ts";
import { explainCommand } from "../report/text.ts";
import { readBackCustomer } from "../resources/enterprise/plan.ts";
import type { OrderStanding } from "../resources/order/model.ts";
import { readBackOrder, ShownContents } from "../resources/order/read-back.ts";
import { Limits } from "../resources/order/terms.ts";
import { readBackStaff } from "../resources/staff/observe.ts";
import { refused, unknown } from "./requests.ts";

export interface RecordSubject {
  stream: Stream;
  key: RecordKey;
}

interface ByHandNote {
  subject: RecordSubject;
  reason: string;
  by: string;
}

export interface Resolved {
  subject: string;
  seen: string[];
  unseen: string[];
  otherwise: string[];
}

/**
 * Counts only if nothing differs after reading back; unobservable parts count by the person's statement. The note is
 * written before the reading. Throws a Problem if the record cannot be resolved (64).
 */
export async function resolveByHand(
  application: Application,
  note: ByHandNote,
  signal: AbortSignal,
): Promise<Resolved> {
  return await underRunLock(application, async () => {
    const { ledger, platform, settings } = await application.runDependencies();
    const { stream, key } = note.subject;
    const subject = subjectOf(stream, key);
    const customer = await requireResolvable(ledger, note.subject, subject);
    // Finished records are loaded without their form. The next run looks at all of it again.
    await ledger.records.markPending({ customer });
    const loaded = await withStanding(ledger, ledger.state.load(customer), note.subject);
    const bodyHash = requireWork(loaded, note.subject, subject);
    const { by, reason } = note;
    await ledger.state.record(customer, [], { kind: "done-by-hand", subject, body: { bodyHash, by, reason } });
    const snapshot = new SnapshotReader(platform, settings).of(customer, signal);
    const { changes, seen, unseen, otherwise } = await readBackRecord(
      { settings, ledger },
      snapshot,
      loaded,
      note.subject,
    );
    const taken = await takenBy(ledger, customer, changes);
    if (taken !== undefined) otherwise.push(taken.message);
    const counted = otherwise.length === 0;
    const kept = { type: "done-by-hand", stream, key, bodyHash, by, reason, unseen } as const;
    await ledger.state.record(customer, counted ? [...changes, kept] : [], {
      kind: "by-hand-read-back",
      subject,
      body: { counted, seen, unseen, otherwise },
    });
    if (taken !== undefined) throw taken;
    return { subject, seen, unseen, otherwise };
  });
}

async function takenBy(
  ledger: Ledger,
  customer: RecordKey,
  changes: readonly StateChange[],
): Promise<Problem | undefined> {
  const linked = changes.find((change) => change.type === "linked");
  if (linked === undefined) return undefined;
  const { enterpriseGlobalId } = linked.link;
  const owner = await ledger.state.read((rows) => rows.enterprise.links.customerOfEnterprise(enterpriseGlobalId));
  if (owner === undefined || formatKey(owner) === formatKey(customer)) return undefined;
  return refused(
    "link.taken",
    `the enterprise ${enterpriseGlobalId} is already linked to ${formatKey(owner)}, so it was not linked to ` +
      formatKey(customer),
    `correct the channel customer number in the CRM or on the platform. If ${formatKey(owner)} has the wrong ` +
      `enterprise, first run \`crm-sync unlink ${formatKey(owner)} --reason TEXT\``,
  );
}

async function requireResolvable(ledger: Ledger, { stream, key }: RecordSubject, subject: string): Promise<RecordKey> {
  const owner = await ledger.records.ownerOf(stream, key);
  if (owner === undefined) throw unknown(subject);
  if (owner.state === "quarantined") {
    throw refused(
      "resolve.quarantined",
      `${subject} is in quarantine, so crm-sync does not know what the CRM wants. Nothing was recorded`,
      "`crm-sync quarantine list` shows why; correct the record, run the job, then try again",
    );
  }
  const [open] = await ledger.journal.openOf(owner.customer);
  if (open !== undefined) {
    throw refused(
      "resolve.open-operation",
      `the outcome of ${open.operation.endpoint} on ${open.operation.subject} (${open.id}) is not known yet. ` +
        "Nothing was recorded",
      "run the job, which finds the outcome. If it needs a person: `crm-sync settle list`",
    );
  }
  if (stream !== "orders" && owner.state === "current") await requireOpen(ledger, owner, subject);
  return owner.customer;
}

/** Throws if no run has work for the record and no reading shows a difference. */
async function requireOpen(
  { state }: Ledger,
  { customer, isDone }: { customer: RecordKey; isDone: boolean },
  subject: string,
): Promise<void> {
  if (!isDone || (await state.seenDifferences(customer)).length > 0) return;
  const cure =
    "nothing needs to be done. If somebody changed the platform, `crm-sync run verify` finds the change; then try " +
    "again";
  throw refused(
    "resolve.agreed",
    `${subject} already agrees with the CRM, as far as crm-sync knows. Nothing was recorded`,
    cure,
  );
}

/** Adds the order's recorded state if it agrees with the CRM but readings showed differences. */
async function withStanding({ state }: Ledger, loaded: LoadedCustomer, of: RecordSubject): Promise<LoadedCustomer> {
  const { customer, standings } = loaded;
  const name = formatKey(of.key);
  if (of.stream !== "orders" || standings?.has(name) === true) return loaded;
  if ((await state.seenDifferences(customer)).length === 0) return loaded;
  const standing = await state.readTogether((rows) => rows.order.standing(customer, of.key));
  return standing === undefined ? loaded : { ...loaded, standings: new Map(standings).set(name, standing) };
}

/** Hash of the record's form. Throws if a person can have done nothing for the record. */
function requireWork(loaded: LoadedCustomer, of: RecordSubject, subject: string): string {
  const { known } = loaded;
  const isSame = (item: { key: RecordKey }): boolean => formatKey(item.key) === formatKey(of.key);
  const record = {
    customers: loaded.desiredCustomer,
    orders: loaded.orders.find(isSame),
    staff: loaded.staff.find(isSame),
  }[of.stream];
  if (record === undefined) throw unknown(subject);
  if (known.unlinked !== undefined || (of.stream !== "customers" && known.link === undefined)) {
    throw refused(
      "resolve.no-enterprise",
      `the customer ${formatKey(loaded.customer)} is not linked with an enterprise. Nothing was recorded`,
      `\`crm-sync link ${formatKey(loaded.customer)} ENTERPRISE --reason TEXT\` links the customer; then try again`,
    );
  }
  if (of.stream === "orders") requireStanding(loaded, of.key, subject);
  else if (record.state === "absent") {
    const cure = "nothing needs to be done: the next runs make the remaining removals";
    throw refused("resolve.gone", `${subject} was deleted in the CRM. Nothing was recorded`, cure);
  }
  return record.bodyHash;
}

function requireStanding({ customer, known, standings }: LoadedCustomer, key: RecordKey, subject: string): void {
  const placed = known.placedOrders.get(formatKey(key));
  if (placed === undefined || formatKey(placed.customer) !== formatKey(customer)) {
    const cure =
      "run the job, which places the order or finds it in an enterprise that a person linked; " +
      `\`${explainCommand("orders", key)}\` shows the order`;
    throw refused(
      "resolve.not-placed",
      `${subject} was not placed for ${formatKey(customer)}. Nothing was recorded`,
      cure,
    );
  }
  const standing = standings?.get(formatKey(key));
  if (standing === undefined)
    throw refused(
      "resolve.agreed",
      `${subject} already agrees with the CRM. Nothing was recorded`,
      "nothing needs to be done",
    );
  if ("lost" in standing) {
    const cure = `\`${explainCommand("orders", key)}\` shows the details`;
    throw refused(
      "resolve.form-lost",
      `crm-sync does not know the present state of ${subject}: ${standing.lost}`,
      cure,
    );
  }
}

/** Customer: E3; person: M5, M6, E8; order: M7 of every asset. Throws if a reading fails, because it shows nothing. */
async function readBackRecord(
  deps: Pick<EngineDependencies, "settings" | "ledger">,
  snapshot: Snapshot,
  loaded: LoadedCustomer,
  { stream, key }: RecordSubject,
): Promise<ReadBack> {
  const { settings } = deps;
  if (stream === "customers") {
    const { customer, desiredCustomer } = loaded;
    const { channelCustomerId } = customerNumbers(customer, desiredCustomer?.body.channelCustomerId, settings);
    return readBackCustomer(loaded, await snapshot.enterprises(channelCustomerId), settings);
  }
  const enterprise = loaded.known.link?.enterpriseGlobalId;
  if (stream === "orders")
    return enterprise === undefined ? nothingRead() : await readOrder(deps, snapshot, loaded, key);
  const staff = loaded.staff.find((item) => formatKey(item.key) === formatKey(key));
  if (enterprise === undefined || staff === undefined) return nothingRead();
  const members = await snapshot.members(enterprise);
  const assets = await snapshot.assetRows(enterprise);
  return readBackStaff(loaded, staff, { members, assets }, settings);
}

/** Reads every asset, because a person's purchase may have an unknown number. */
async function readOrder(
  deps: Pick<EngineDependencies, "settings" | "ledger">,
  snapshot: Snapshot,
  { known, orders, standings }: LoadedCustomer,
  key: RecordKey,
): Promise<ReadBack> {
  const order = orders.find((item) => formatKey(item.key) === formatKey(key));
  const standing = standings?.get(formatKey(key));
  if (order === undefined || standing === undefined || "lost" in standing || known.link === undefined)
    return nothingRead();
  const readings: AssetReading[] = [];
  for await (const reading of snapshot.contents(known.link.enterpriseGlobalId)) readings.push(reading);
  const shown = new Set(readings.flatMap(({ products }) => products.map((product) => product.licenseType)));
  const hidden = new Set<string>();
  for (const type of licenseTypesOf(order, standing))
    if (!shown.has(type) && !(await isShown(deps, type))) hidden.add(type);
  const held = new Set(known.assignments.map((item) => item.assetNumber));
  return readBackOrder(order, standing, new ShownContents(readings, hidden), {
    held,
    numbers: known.numbers,
    limits: new Limits(deps.settings),
  });
}

function licenseTypesOf({ tree }: OrderWithTree, { units }: OrderStanding): ReadonlySet<LicenseType> {
  return new Set([...tree.assets.map((item) => item.licenseType), ...units.map((item) => item.licenseType)]);
}
