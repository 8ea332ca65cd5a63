import { acknowledged, failure, Refusal, success, type Answer } from "./answers.ts";
import type { Call, EndpointId, Run } from "./endpoints.ts";
import { isObject, withMembers } from "./staff.ts";

type Otherwise = (call: Call, next: Run) => Answer;
type Ways = Partial<Record<EndpointId, Otherwise>>;

const refused = (reason: string, code: "13004" | "30002" = "13004"): never => {
  throw new Refusal(code, reason);
};

const contradictions = {
  A1: { E4: (call, next) => ({ ...next(call), status: 299 }) },
  A2: { E4: () => failure("77777", "no such code") },
  A8: { E3: () => success([]) },
  A9: { E3: (call, next) => underLegacyCode(call, next) },
  /** E3 shows a second enterprise under every number. */
  A10: {
    E3: (call, next) =>
      withRows(next(call), (rows) => [
        ...rows,
        ...rows.map((row) => ({ ...row, enterpriseGlobalId: "6100000000000009999" })),
      ]),
  },
  A12: { E5: () => refused("orderList[0].customerId: takes no orders") },
  A13: {
    E3: (call, next) => withRows(next(call), (rows) => (rows.length === 0 ? null : rows)),
  },
  A14: {
    E4: (call, next) => (isObject(call.body) && "address" in call.body ? next(call) : refused("address: required")),
  },
  /** An asynchronous E5 is accepted and has no effect. */
  A15: { E5: () => acknowledged() },
  /** E5 leaves out the first product and answers with an error. */
  A16: { E5: (call, next) => next(withoutFirstProduct(call)) && failure("500", "network error") },
  A17: { E5: (call, next) => withRows(next(call), (rows) => rows.map((row, sequence) => ({ ...row, sequence }))) },
  /** Every deletion must name another source order. */
  A19: { E5: (call, next) => (isDeletion(call) ? refused("orderList[0].srcLicenseOrderId: wrong") : next(call)) },
  A20: {
    E5: (call, next) => (holds(call, "limitEndDate") ? refused(`${firstProduct}.limitEndDate: no time`) : next(call)),
  },
  A21: { E5: () => refused("orderList[0].assets[0].products[0].limitTimeDuration: must be positive") },
  A22: { E5: () => refused("orderList[0].assets[0].products[0].productType: unknown") },
  A23: {
    E5: (call, next) => (holds(call, "merchandises") ? refused(`${firstAsset}.products: must repeat`) : next(call)),
  },
  A24: {
    E5: (call, next) =>
      holds(call, "merchandises") ? refused(`${firstAsset}.merchandises[0].parentMerchandiseNum: unknown`) : next(call),
  },
  A25: {
    E9: (call, next) => {
      const answer = next(call);
      const { data } = answer;
      return Array.isArray(data) ? { ...answer, data: data.map((digits) => `7${String(digits).slice(1)}`) } : answer;
    },
  },
  A26: { E6: (call, next) => withRows(next(call), (rows) => rows.map((row) => ({ ...row, status: 4 }))) },
  A27: {
    M5: (call, next) => withData(next(call), (data) => ({ ...data, total: Number(data["total"]) + 1 })),
  },
  /** M5 shows an account with a doubled enterprise code under its bare name. */
  A28: {
    M5: (call, next) => withFields(next(call), { userName: (name) => String(name).replace(/([A-Z]\d{5})\1$/u, "") }),
  },
  /** M1 appends another ending to every second name. */
  A29: { M1: (call, next) => withData(next(call), withOtherEndings) },
  A31: { M1: () => refused("name is too long", "30002") },
  /** M9 assigns only the first number and answers with an error. */
  A33: { M9: (call, next) => next(withFirstNumber(call)) && failure("500", "network error") },
  A34: { M5: (call, next) => withFields(next(call), { assetNums: () => [] }) },
  /** M6 shows every held number with the administrator too. */
  A35: {
    M6: (call, next) =>
      withRows(next(call), (rows) => [
        ...rows,
        ...rows.filter(isHeld).map((row) => ({ ...row, cloudAccountGlobalId: "6300000000000000001" })),
      ]),
  },
  A36: { M4: () => failure("60002", "the member does not exist") },
  A39: { E5: () => refused("orderList[0].srcLicenseOrderId: required for a cloud authorization type") },
  A41: { M2: () => success(null) },
  A43: { M6: (call, next) => withRows(next(call), (rows) => rows.filter(isHeld)) },
} satisfies Record<string, Ways>;
const waysOf: Readonly<Record<ContradictedRow, Ways>> = contradictions;

export type ContradictedRow = keyof typeof contradictions;
export const contradictedRows = Object.keys(contradictions).filter(
  (row): row is ContradictedRow => row in contradictions,
);

const firstAsset = "orderList[0].assets[0]";
const firstProduct = `${firstAsset}.products[0]`;

function withFirstNumber(call: Call): Call {
  const { body } = call;
  if (!isObject(body) || !Array.isArray(body["addAssets"])) return call;
  return { ...call, body: { ...body, addAssets: body["addAssets"].slice(0, 1) } };
}

function holds({ body }: Call, field: string): boolean {
  const isThere = (item: unknown): boolean => {
    if (Array.isArray(item)) return item.some(isThere);
    if (!isObject(item)) return false;
    const own = item[field];
    return (
      (own !== undefined && own !== null && !(Array.isArray(own) && own.length === 0)) ||
      Object.values(item).some(isThere)
    );
  };
  return isThere(body);
}

const isHeld = (row: Fields): boolean => row["cloudAccountGlobalId"] !== null;

function isDeletion({ body }: Call): boolean {
  if (!isObject(body) || !Array.isArray(body["orderList"])) return false;
  return body["orderList"].some((order: unknown) => isObject(order) && order["orderType"] !== "new_buy");
}

/** The only channel code under which E3 shows anything. */
const legacyCode = "legacy";

function underLegacyCode(call: Call, next: Run): Answer {
  if (call.query.get("channelCode") !== legacyCode) return success([]);
  const query = new URLSearchParams(call.query);
  query.set("channelCode", "crm");
  return withRows(next({ ...call, query }), (rows) => rows.map((row) => ({ ...row, channelCode: legacyCode })));
}

function withoutFirstProduct(call: Call): Call {
  const { body } = call;
  if (!isObject(body) || !Array.isArray(body["orderList"])) return call;
  const orderList = body["orderList"].map((order: unknown) => {
    if (!isObject(order) || !Array.isArray(order["assets"])) return order;
    const all: unknown[] = order["assets"];
    const [first, ...assets] = all;
    if (!isObject(first) || !Array.isArray(first["products"])) return order;
    return { ...order, assets: [{ ...first, products: first["products"].slice(1) }, ...assets] };
  });
  return { ...call, body: { ...body, orderList } };
}

type Fields = Record<string, unknown>;

function withRows(answer: Answer, change: (rows: Fields[]) => unknown): Answer {
  const { data } = answer;
  return answer.code === 0 && Array.isArray(data) ? { ...answer, data: change(data.filter(isObject)) } : answer;
}

function withData(answer: Answer, change: (data: Fields) => unknown): Answer {
  const { data } = answer;
  return answer.code === 0 && isObject(data) ? { ...answer, data: change(data) } : answer;
}

function withOtherEndings(data: Fields): Fields {
  const added: unknown[] = Array.isArray(data["succeeded"]) ? data["succeeded"] : [];
  const succeeded = added.filter(isObject).map((row, index) => {
    return { ...row, userName: `${String(row["userName"])}${index % 2 === 0 ? "" : "X"}` };
  });
  return { ...data, succeeded };
}

interface Contradicted {
  set(rows: readonly ContradictedRow[]): void;
  run(operation: EndpointId, call: Call, run: Run): Answer;
}

export function createContradicted(rows: readonly ContradictedRow[]): Contradicted {
  let current = rows;
  return {
    set: (next) => void (current = next),
    run: (operation, call, run) =>
      current.reduce<Run>((next, row) => {
        const otherwise = waysOf[row][operation];
        return otherwise === undefined ? next : (given) => otherwise(given, next);
      }, run)(call),
  };
}

function withFields(answer: Answer, changes: Record<string, (value: unknown) => unknown>): Answer {
  if (answer.code !== 0) return answer;
  const change = (name: string, value: unknown): [unknown] | undefined => changes[name] && [changes[name](value)];
  return { ...answer, data: withMembers(answer.data, change) };
}
