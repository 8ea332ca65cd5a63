import { meaningOf, refusalOf, settledCure, type RefusalScope } from "../contract/codes.ts";
import { formatKey } from "../crm/keys.ts";
import type { NewRejections } from "../ledger/journal/rejections.ts";
import type { Operation } from "./model/operation.ts";
import { refusedParts, settingsFingerprint } from "./plan/rejections.ts";
import type { RefusedPerson } from "./model/operation-type.ts";
import { typeOf } from "./model/registry.ts";
import type { RecordReference } from "./model/resource.ts";
import type { EngineDependencies } from "./customer.ts";

export interface Refused {
  code: string;
  /** No private values. */
  reason: string;
  scope: RefusalScope;
  /** One of several people is at fault. They are sent in parts until that person is alone. */
  shared: boolean;
  rejections: NewRejections | undefined;
}

/** `words`: the service's words, after `toldWords`. */
export function refusedWith(
  deps: Pick<EngineDependencies, "settings">,
  operation: Operation,
  code: string,
  words: string,
): Refused {
  const { meaning, cure } = meaningOf(code, operation.endpoint);
  const { scope, field } = refusalOf(code);
  const inParts = typeOf(operation).can.items?.(operation) !== undefined;
  const shared = inParts && scope === "record" && operation.records.length > 1;
  const said = words === "" ? "" : ` (the service says: ${words}${productNamed(operation, words)})`;
  const next = settledCure(code, operation.endpoint) ?? cure;
  const reasonFor = (record: string): string => {
    const what = inParts && field !== undefined ? ` for the field ${field} of ${record}` : "";
    return `${operation.endpoint} was rejected with ${code}${what}: ${meaning}${said}. ${next}`;
  };
  const [first] = operation.records;
  const reason = reasonFor(first === undefined ? operation.subject : `${first.stream} ${formatKey(first)}`);
  const kept = scope === "service" ? "service.refused" : `rejected.${code}`;
  const rejections = rejectionsOf(deps, operation, (record) => ({
    code: kept,
    reason: reasonFor(`${record.stream} ${formatKey(record)}`),
    shared,
  }));
  return { code: kept, reason, scope, shared, rejections };
}

function rejectionsOf(
  { settings }: Pick<EngineDependencies, "settings">,
  operation: Operation,
  of: (record: RecordReference) => Pick<NewRejections["parts"][number], "code" | "reason" | "shared"> | undefined,
): NewRejections {
  const { customer, kind } = operation;
  const parts = refusedParts(operation).flatMap(({ record, hash }) => {
    const why = of(record);
    return why === undefined ? [] : [{ record, hash, ...why }];
  });
  return { customer, kind, settings: settingsFingerprint(settings), parts };
}

/** The instance id of a product that the service names as `assets[0].products[1]`. */
function productNamed(operation: Operation, words: string): string {
  if (operation.kind !== "place-order" && operation.kind !== "amend-order") return "";
  const place = /(?:orderList\[(\d+)\]\.)?assets\[(\d+)\]\.products\[(\d+)\]/u.exec(words);
  if (place === null) return "";
  const { orderList } = operation.payload;
  // Without the index of the order, several products may fit.
  if (place[1] === undefined && orderList.length > 1) return "";
  const product = orderList[Number(place[1] ?? 0)]?.assets[Number(place[2])]?.products[Number(place[3])];
  return product === undefined ? "" : ` (product ${product.crmProductId})`;
}

/** People whom a successful M1 did not add (60027). */
export function refusedPeople(
  deps: Pick<EngineDependencies, "settings">,
  operation: Operation,
  refused: readonly RefusedPerson[],
): NewRejections {
  const messages = new Map(refused.map((person) => [formatKey(person.key), person.message]));
  return rejectionsOf(deps, operation, (record) => {
    const message = messages.get(formatKey(record));
    return message === undefined
      ? undefined
      : { code: "staff.refused", reason: refusedPersonReason(message), shared: false };
  });
}

/** The service's words without private values (60027). */
export function refusedPersonReason(message: string): string {
  return message === "" ? "M1 refused this person" : `M1 refused this person: ${message}`;
}
