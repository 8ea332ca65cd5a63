import type { Json, JsonObject } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { JournalRow } from "../ledger/journal.ts";
import { isPrivateMarker } from "../operation/operation.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { enterpriseMade, orderPlaced, privilegesSet, staffAdded } from "./effects.ts";
import type { Effect } from "./effects.ts";
import { addStaffContext, enterpriseContext, orderContext, privilegeContext } from "./intent.ts";
import type { AddStaffContext, OrderContext } from "./intent.ts";
import { AmbiguousReading } from "../platform/snapshot.ts";
import type { SnapshotReader } from "../platform/snapshot.ts";
import { plannedOrder } from "./prepare.ts";

/** What one reading of the platform says about an operation whose outcome is unknown. */
export type Reading =
  /** Proven: it was applied, and this is what is known by it. */
  | { kind: "applied"; effect: Effect; detail: JsonObject }
  /** The platform does not show it. That alone proves nothing. `partEffect` is what it does show of it. */
  | { kind: "unseen"; detail: JsonObject; partEffect?: Effect | undefined }
  /**
   * Something only a person can judge, such as an order that is shown in part; `effect` is what it would mean if it was applied. `says: "nothing"`
   * where the answer cannot be believed, so that it shows nothing of the operation either.
   */
  | { kind: "odd"; reason: string; detail: JsonObject; effect?: Effect | undefined; says?: "nothing" | undefined };

type Dependencies = Pick<ApplyDependencies, "ledger" | "settings">;

/** Reads what proves an operation. Rejects where the platform gave nothing: a failed reading is never "unseen". */
export async function readEvidence(
  deps: Dependencies,
  observer: SnapshotReader,
  row: JournalRow,
  signal?: AbortSignal,
): Promise<Reading> {
  try {
    return await readingOf(deps, observer, row, signal);
  } catch (error) {
    if (!(error instanceof AmbiguousReading)) throw error;
    return {
      kind: "odd",
      reason: `${error.message}; ${error.cure}`,
      detail: { ambiguous: error.message },
      says: "nothing",
    };
  }
}

async function readingOf(
  deps: Dependencies,
  observer: SnapshotReader,
  row: JournalRow,
  signal: AbortSignal | undefined,
): Promise<Reading> {
  switch (row.operation.kind) {
    case "create-enterprise":
    case "bind-enterprise":
      return await readEnterprise(observer, row, signal);
    case "place-order":
      return await readOrder(observer, row, signal);
    case "add-staff":
      return await readStaff(deps, observer, row, signal);
    case "grant-assets":
    case "revoke-assets":
      return await readPrivileges(observer, row, signal);
    case "update-enterprise":
    case "take-asset-numbers":
      return { kind: "unseen", detail: { call: "none: no operation reads it back" } };
  }
}

async function readEnterprise(
  observer: SnapshotReader,
  row: JournalRow,
  signal: AbortSignal | undefined,
): Promise<Reading> {
  const context = enterpriseContext.parse(row.context);
  const { customer } = row.operation;
  const found = await observer.enterprises(customer, context.channelCustomerId, signal, context.channelCodes);
  const [only] = found;
  const detail = { call: "E3", enterprises: found.map((item) => item.enterpriseGlobalId) };
  if (only === undefined) return { kind: "unseen", detail };
  if (found.length > 1) {
    return {
      kind: "odd",
      reason: `the platform shows ${found.length} enterprises for one customer; one may have been made twice`,
      detail,
    };
  }
  const created = row.operation.kind === "create-enterprise";
  // E2 makes members together with the enterprise; whoever is in one that E1 bound was there before or came by somebody's hand.
  const members = created ? await observer.members(customer, only.enterpriseGlobalId, signal) : [];
  const effect = enterpriseMade(customer, context, {
    enterpriseGlobalId: only.enterpriseGlobalId,
    channelCode: only.customers[0]?.channelCode ?? "",
    origin: created ? "created" : "bound",
    members: members.map((member) => member.globalId),
  });
  effect.changes.push({
    type: "platform-customers",
    enterpriseGlobalId: only.enterpriseGlobalId,
    customers: only.customers,
  });
  return { kind: "applied", effect, detail };
}

async function readOrder(observer: SnapshotReader, row: JournalRow, signal: AbortSignal | undefined): Promise<Reading> {
  const context = orderContext.parse(row.context);
  const sight = await sightOrder(observer, row.operation.customer, context, signal);
  const detail = {
    call: "(M6 ∪ E8) → M7",
    channelOrderId: context.channelOrderId,
    seen: sight.records.filter((record) => isWhole(record)).map((record) => record.sequence),
    products: sight.records.map((record) => [record.sequence, record.seen, record.wanted]),
    assets: sight.shown,
  };
  const effect = orderPlaced(row.id, row.operation.customer, context, sight.licenceOrders);
  if (sight.repeated.length > 0) {
    return {
      kind: "odd",
      reason: `the platform shows the order in more than one licence order (sequence ${sight.repeated.join(", ")}); it may have been placed twice`,
      detail,
      effect,
    };
  }
  if (sight.records.every((record) => isWhole(record))) {
    const types = context.records.map((record) => record.licenseType);
    return {
      kind: "applied",
      effect: { ...effect, changes: [...effect.changes, { type: "licence-types-shown", types }] },
      detail,
    };
  }
  if (sight.records.some((record) => record.seen > 0))
    return { kind: "odd", reason: "the platform shows only a part of the order", detail, effect };
  // Numbers that the CRM gave may stand for assets that were there before; those of the pool are this order's and nobody else's.
  const given = new Set(plannedOrder.parse(row.operation.after).assets.flatMap((asset) => asset.given));
  const ours = sight.shown.find((number) => !given.has(number));
  if (ours !== undefined) {
    const reason = `the platform shows the asset number ${ours} of the order, but none of its products`;
    return { kind: "odd", reason, detail, effect };
  }
  const [bare] = sight.bare;
  if (bare !== undefined) {
    const reason = `M7 shows the asset number ${bare} of the order without any product or package, which says neither that the order is there nor that it is not; ask the operator of the member-center whether such assets are empty (assumptions.emptyAssets)`;
    return { kind: "odd", reason, detail, says: "nothing" };
  }
  return { kind: "unseen", detail };
}

/** How much of an order the platform shows: for each order record how many of its products, and the licence order they name. */
export interface OrderSight {
  records: { sequence: number; seen: number; wanted: number; numbersSeen: number; numbers: number }[];
  licenceOrders: Map<number, string>;
  /** Asset numbers of the order that the platform shows, whatever they hold. */
  shown: string[];
  /** Those of them in which M7 shows neither a product nor a package. */
  bare: string[];
  /** Sequences whose products name more than one licence order. */
  repeated: number[];
}

function isWhole(record: OrderSight["records"][number]): boolean {
  return record.wanted > 0 && record.seen === record.wanted && record.numbersSeen === record.numbers;
}

/** Looks for an order by its own asset numbers: (M6 ∪ E8), then M7 of each, by channelOrderId and crmProductId. */
export async function sightOrder(
  observer: SnapshotReader,
  customer: RecordKey,
  context: OrderContext,
  signal?: AbortSignal,
): Promise<OrderSight> {
  const assets = await observer.allAssets(customer, context.enterpriseGlobalId, signal);
  const sight: OrderSight = { records: [], licenceOrders: new Map(), shown: [], bare: [], repeated: [] };
  for (const record of context.records) {
    const seen = new Set<string>();
    const licenceOrders = new Set<string>();
    let numbersSeen = 0;
    for (const number of record.numbers) {
      const asset = assets.get(number);
      if (asset === undefined) continue;
      sight.shown.push(number);
      const { products, bare } = await observer.contents(customer, context.enterpriseGlobalId, asset, signal);
      if (bare) sight.bare.push(number);
      const ours = products.filter(
        (product) =>
          product.channelOrderId === context.channelOrderId &&
          product.crmProductId !== null &&
          product.crmProductId !== undefined &&
          record.products.includes(product.crmProductId),
      );
      if (ours.length > 0) numbersSeen += 1;
      for (const product of ours) {
        if (typeof product.crmProductId === "string") seen.add(product.crmProductId);
        if (typeof product.licenseOrderId === "string" && product.licenseOrderId !== "")
          licenceOrders.add(product.licenseOrderId);
      }
    }
    const [licenceOrder] = licenceOrders;
    if (licenceOrder !== undefined) sight.licenceOrders.set(record.sequence, licenceOrder);
    if (licenceOrders.size > 1) sight.repeated.push(record.sequence);
    sight.records.push({
      sequence: record.sequence,
      seen: seen.size,
      wanted: record.products.length,
      numbersSeen,
      numbers: record.numbers.length,
    });
  }
  return sight;
}

/** A29: new rows of M5 with the name that was sent and an account name that is the one sent plus one suffix common to all. */
async function readStaff(
  deps: Dependencies,
  observer: SnapshotReader,
  row: JournalRow,
  signal: AbortSignal | undefined,
): Promise<Reading> {
  const context = addStaffContext.parse(row.context);
  const people = clearNames(deps, row, context);
  if (people === undefined)
    return { kind: "odd", reason: "the names of the staff were erased, so they cannot be looked for", detail: {} };
  const { customer } = row.operation;
  const known = await deps.ledger.known(customer);
  const linked = [...known.staffLinks.values()].map((link) => link.memberGlobalId);
  const before = new Set([...context.shownBefore, ...linked, ...known.protectedMembers]);
  const rows = (await observer.members(customer, context.enterpriseGlobalId, signal)).filter(
    (member) => !member.deleted && !before.has(member.globalId),
  );
  const knownCode = known.enterpriseCode;
  const hits = people.map((person) => ({
    person,
    rows: rows.filter((member) => member.name === person.name && member.userName.startsWith(person.userName)),
  }));
  const suffixes = new Set(
    hits
      .flatMap(({ person, rows: found }) => found.map((member) => member.userName.slice(person.userName.length)))
      .filter((suffix) => suffix.length <= deps.settings.enterpriseCodeMaxLength),
  );
  const code = knownCode ?? (suffixes.size === 1 ? [...suffixes][0] : undefined);
  const added = hits.flatMap(({ person, rows: found }) =>
    found
      .filter((member) => code !== undefined && member.userName === person.userName + code)
      .map((member) => ({ key: person.key, globalId: member.globalId })),
  );
  const detail = { call: "M5", shown: added.map((item) => item.globalId), wanted: people.length };
  if (new Set(added.map((item) => formatKey(item.key))).size !== added.length)
    return { kind: "odd", reason: "the platform shows a new staff member twice", detail };
  if (added.length === 0 && suffixes.size > 1)
    return { kind: "odd", reason: "new staff members fit the names, but with different suffixes", detail };
  if (knownCode === undefined && added.length > 0 && added.length < people.length) {
    return {
      kind: "odd",
      reason: "only some of the staff are shown, and the enterprise code is not known yet, so they may be other people",
      detail,
    };
  }
  const found = new Set(added.map((item) => item.globalId));
  const accounts = new Set(people.map((person) => person.userName + (code ?? "")));
  const strangers = hits.some(
    ({ person, rows: shown }) =>
      !added.some((item) => formatKey(item.key) === formatKey(person.key)) &&
      shown.some((member) => !found.has(member.globalId) && !accounts.has(member.userName)),
  );
  if (strangers) {
    return {
      kind: "odd",
      reason:
        "M5 shows a new account with a name that was sent and another ending than the enterprise code (A29), so it may be one of these people; look on the platform whose it is, then settle it",
      detail,
    };
  }
  const effect = staffAdded(customer, context, { added, refused: [], code });
  if (added.length === people.length) return { kind: "applied", effect, detail };
  return { kind: "unseen", detail, partEffect: added.length === 0 ? undefined : effect };
}

function clearNames(
  deps: Dependencies,
  row: JournalRow,
  context: AddStaffContext,
): { key: RecordKey; userName: string; name: string }[] | undefined {
  const list = row.operation.payload["userList"];
  if (!Array.isArray(list)) return undefined;
  const reveal = (value: Json | undefined): string | undefined => {
    if (!isPrivateMarker(value)) return undefined;
    const clear = deps.ledger.privateValue(value);
    return typeof clear === "string" ? clear : undefined;
  };
  const people: { key: RecordKey; userName: string; name: string }[] = [];
  for (const [index, item] of list.entries()) {
    const person = context.staff[index];
    if (typeof item !== "object" || item === null || Array.isArray(item) || person === undefined) return undefined;
    const userName = reveal(item["userName"]);
    const name = reveal(item["name"]);
    if (userName === undefined || name === undefined) return undefined;
    people.push({ key: person.key, userName, name });
  }
  return people;
}

/** M6 says who holds what; taken away is only what M5 does not show with the member either (A34). */
async function readPrivileges(
  observer: SnapshotReader,
  row: JournalRow,
  signal: AbortSignal | undefined,
): Promise<Reading> {
  const context = privilegeContext.parse(row.context);
  const { customer } = row.operation;
  const members = await observer.members(customer, context.enterpriseGlobalId, signal);
  const assets = await observer.assets(customer, context.enterpriseGlobalId, signal);
  const holder = new Map(assets.map((asset) => [asset.assetNum, asset.holder]));
  const member = members.find((item) => item.globalId === context.memberGlobalId && !item.deleted);
  const granted = context.addAssets.filter((number) => holder.get(number) === context.memberGlobalId);
  const revoked = context.deleteAssets.filter(
    (number) =>
      holder.has(number) &&
      holder.get(number) !== context.memberGlobalId &&
      member?.assetNums.includes(number) !== true,
  );
  const detail = {
    call: "M6 and M5",
    member: member !== undefined,
    granted,
    revoked,
  };
  const effect = privilegesSet(row.id, customer, context, { granted, revoked });
  if (granted.length === context.addAssets.length && revoked.length === context.deleteAssets.length)
    return { kind: "applied", effect, detail };
  return { kind: "unseen", detail, partEffect: granted.length + revoked.length === 0 ? undefined : effect };
}
