import type { JsonObject } from "../base/canonical-json.ts";
import { readableMessage } from "../contract/answer-json.ts";
import type { AddedStaff, RefusedStaff } from "../contract/member-center.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { StateChange } from "../operation/state.ts";
import type { AddStaffContext, EnterpriseContext, OrderContext, PrivilegeContext } from "./intent.ts";

/** What is known once an operation is proven: the same, whether its own answer or a later reading proves it. */
export interface Effect {
  changes: StateChange[];
  audit: JsonObject;
}

/** E1 or E2 made the enterprise. */
export function enterpriseMade(
  customer: RecordKey,
  context: EnterpriseContext,
  made: { enterpriseGlobalId: string; channelCode: string; origin: "created" | "bound"; members: string[] },
): Effect {
  return {
    changes: [
      {
        type: "linked",
        customer,
        link: {
          enterpriseGlobalId: made.enterpriseGlobalId,
          channelCode: made.channelCode,
          channelCustomerId: context.channelCustomerId,
          origin: made.origin,
          examined: made.origin === "created",
        },
      },
      { type: "acknowledged", customer, fields: context.acknowledged },
      ...(made.members.length === 0
        ? []
        : [
            {
              type: "members-protected" as const,
              enterpriseGlobalId: made.enterpriseGlobalId,
              memberGlobalIds: made.members,
              reason: "made together with the enterprise",
            },
          ]),
    ],
    audit: { enterpriseGlobalId: made.enterpriseGlobalId, members: made.members.length },
  };
}

/**
 * E5 placed the order; `licenceOrders` by sequence. An order record whose licence order is not known gets no row: an empty number would one
 * day name all orders of the customer.
 */
export function orderPlaced(
  operationId: string,
  customer: RecordKey,
  context: OrderContext,
  licenceOrders: ReadonlyMap<number, string>,
): Effect {
  const rows = context.records.flatMap((record) => {
    const licenseOrderId = licenceOrders.get(record.sequence) ?? "";
    if (licenseOrderId === "") return [];
    const { sequence, licenseType, customerId } = record;
    return [{ sequence, licenseType, platformCustomerId: customerId, licenseOrderId }];
  });
  const changes: StateChange[] = [
    {
      type: "order-placed",
      order: context.order,
      customer,
      channelOrderId: context.channelOrderId,
      bodyHash: context.bodyHash,
      version: context.version,
      operationId,
      origin: "placed",
      licenceOrders: rows,
    },
  ];
  if (context.secrets)
    changes.push({ type: "secrets-wiped", ref: `orders/${formatKey(context.order)}`, version: context.version });
  return {
    changes,
    audit: {
      order: formatKey(context.order),
      channelOrderId: context.channelOrderId,
      enterpriseGlobalId: context.enterpriseGlobalId,
      licenceOrders: rows.map((row) => ({
        sequence: row.sequence,
        licenseType: row.licenseType,
        licenseOrderId: row.licenseOrderId,
      })),
      assetNumbers: context.records.flatMap((record) => record.numbers),
      products: context.records.flatMap((record) => record.products),
    },
  };
}

/** M9 did what it was asked, or M6 shows that it is so. `numbers` limits it to those that were proven. */
export function privilegesSet(
  operationId: string,
  customer: RecordKey,
  context: PrivilegeContext,
  proven: { granted: readonly string[]; revoked: readonly string[] },
): Effect {
  return {
    changes: [
      ...proven.revoked.map((assetNumber): StateChange => ({ type: "asset-revoked", assetNumber, operationId })),
      ...proven.granted.map((assetNumber): StateChange => ({
        type: "asset-granted",
        assetNumber,
        staff: context.staff,
        customer,
        memberGlobalId: context.memberGlobalId,
        origin: "granted",
        operationId,
      })),
    ],
    audit: {
      staff: formatKey(context.staff),
      memberGlobalId: context.memberGlobalId,
      granted: [...proven.granted],
      revoked: [...proven.revoked],
    },
  };
}

/** Who was added, who was refused, and the enterprise code that the account names show. */
export interface StaffMatch {
  added: { key: RecordKey; globalId: string }[];
  refused: { key: RecordKey; message: string }[];
  code: string | undefined;
}

/**
 * Ties the rows of M1's answer to the staff that were sent. The service appends the enterprise code: it must be one suffix common to all rows,
 * and every person sent must come back exactly once, added or refused. Undefined where that does not work out: then the staff list decides.
 */
export function matchAddedStaff(
  sent: readonly { key: RecordKey; userName: string }[],
  answer: { succeeded: readonly AddedStaff[]; failed: readonly RefusedStaff[] },
  knownCode: string | undefined,
): StaffMatch | undefined {
  const bySentName = new Map(sent.map((person) => [person.userName, person.key]));
  const code = commonSuffix(
    [...bySentName.keys()],
    answer.succeeded.map((row) => row.userName),
    knownCode,
  );
  if (answer.succeeded.length > 0 && code === undefined) return undefined;
  const seen = new Set<string>();
  const match: StaffMatch = { added: [], refused: [], code };
  for (const row of answer.succeeded) {
    const name = row.userName.slice(0, row.userName.length - (code?.length ?? 0));
    const key = bySentName.get(name);
    if (key === undefined || seen.has(name)) return undefined;
    seen.add(name);
    match.added.push({ key, globalId: row.globalId });
  }
  for (const row of answer.failed) {
    const suffix = code ?? knownCode ?? "";
    const bare = bySentName.has(row.userName)
      ? row.userName
      : row.userName.slice(0, row.userName.length - suffix.length);
    const key = bySentName.get(bare);
    if (key === undefined || seen.has(bare)) return undefined;
    seen.add(bare);
    match.refused.push({ key, message: readableMessage(row.message ?? "") || "refused without a reason" });
  }
  return seen.size === bySentName.size ? match : undefined;
}

/** The one suffix that turns every shown account name into one of the sent names, or undefined (none, or more than one). */
export function commonSuffix(
  sent: readonly string[],
  shown: readonly string[],
  known: string | undefined,
): string | undefined {
  const [first] = shown;
  if (first === undefined) return undefined;
  const names = new Set(sent);
  const candidates =
    known === undefined
      ? sent.filter((name) => first.startsWith(name)).map((name) => first.slice(name.length))
      : [known];
  const fitting = candidates.filter((suffix) =>
    shown.every((name) => name.endsWith(suffix) && names.has(name.slice(0, name.length - suffix.length))),
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** M1 added these people. */
export function staffAdded(customer: RecordKey, context: AddStaffContext, match: StaffMatch): Effect {
  const people = new Map(context.staff.map((person) => [formatKey(person.key), person]));
  const changes: StateChange[] = match.added.flatMap((added) => {
    const person = people.get(formatKey(added.key));
    if (person === undefined) return [];
    return [
      {
        type: "staff-linked" as const,
        staff: added.key,
        customer,
        enterpriseGlobalId: context.enterpriseGlobalId,
        memberGlobalId: added.globalId,
        origin: "created" as const,
        particulars: person.particulars,
      },
      ...(person.password === undefined ? [] : [{ type: "secrets-wiped" as const, ...person.password }]),
    ];
  });
  if (match.code !== undefined)
    changes.push({ type: "enterprise-code", enterpriseGlobalId: context.enterpriseGlobalId, code: match.code });
  return {
    changes,
    audit: {
      added: match.added.map((added) => ({ staff: formatKey(added.key), memberGlobalId: added.globalId })),
      refused: match.refused.map((refused) => formatKey(refused.key)),
    },
  };
}
