import { formatKey } from "../crm/keys.ts";
import type { LicenseType, RecordKey, Stream } from "../crm/model.ts";
import type { EngineDependencies } from "../engine/customer.ts";
import { isShown } from "../engine/evidence.ts";
import type { OrderWithTree } from "../engine/model/desired.ts";
import { customerNumbers } from "../engine/plan/input.ts";
import type { LoadedCustomer } from "../engine/plan/input.ts";
import { nothingRead } from "../engine/plan/read-back.ts";
import type { ReadBack } from "../engine/plan/read-back.ts";
import type { AssetReading, Snapshot } from "../platform/snapshot.ts";
import { readBackCustomer } from "../resources/enterprise/customer-read-back.ts";
import type { OrderStanding } from "../resources/order/model.ts";
import { readBackOrder, ShownContents } from "../resources/order/read-back.ts";
import { Limits } from "../resources/order/removal-sight.ts";
import { readBackStaff } from "../resources/staff/observe.ts";

/** A record for which a person did something on the platform. */
export interface RecordSubject {
  stream: Stream;
  key: RecordKey;
}

/**
 * Reads a person's manual work for a record, without a writing call. For a customer E3, for a person M5, M6 and E8, for
 * an order M7 of every asset. Throws if a reading fails: a failed reading shows nothing about the work.
 */
export async function readBackRecord(
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

/** Reads M7 of every asset, because a person's purchase may be under an unknown number. */
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
