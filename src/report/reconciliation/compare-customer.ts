import { handedIn } from "../../engine/model/registry.ts";
import { orderRows, shownForms } from "./compare-orders.ts";
import {
  notRead,
  stillShown,
  waitNote,
  whyNot,
  type Comparison,
  type CustomerCase,
  type ReconciliationView,
} from "./case.ts";

export function compareCustomer(item: CustomerCase, view: ReconciliationView): Comparison[] {
  return [
    ...enterpriseRows(item),
    ...orderRows(item, view),
    ...handedIn().resources.flatMap(({ compare }) => compare?.(item, view) ?? []),
    ...deletedRows(item),
    ...twiceRows(item),
    ...item.unusable.map((record): Comparison => ({
      level: record.level,
      verdict: "missing",
      order: record.level === "order" ? record.key : undefined,
      staff: record.level === "staff" ? record.key : undefined,
      inCrm: true,
      sent: false,
      shown: null,
      details: [`waits in quarantine: ${record.message}`],
    })),
  ];
}

/** Things shown more than once in a reading. One call may send a product twice: in a package and in the asset (A23). */
function twiceRows(item: CustomerCase): Comparison[] {
  return [...item.shown.twice.values()].flatMap(({ seenAt, body }): Comparison[] => {
    const text = (name: string): string | undefined => (typeof body[name] === "string" ? body[name] : undefined);
    const product = text("crmProductId");
    const what = product === undefined ? "the asset number" : "the product under this asset number";
    const row = {
      level: product === undefined ? ("assignment" as const) : ("product" as const),
      assetNumber: text("assetNum"),
      item: product,
      inCrm: false,
      sent: false,
      shown: true,
      seenAt,
    };
    const own = ownForms(item, text("assetNum"), product);
    if (own === "sent so") return [];
    if (own !== undefined) {
      const details = ["the old form stays beside the new one until it is removed"];
      return [{ ...row, verdict: "in-transit", details }];
    }
    const details = [`the platform shows ${what} ${Number(body["times"])} times; it may have been placed twice`];
    return [{ ...row, verdict: "extra", details, finding: "shown-twice" }];
  });
}

/** `sent so`: one purchase sent it as often as shown; `forms`: several did. Undefined: shown more often than sent. */
function ownForms(
  item: CustomerCase,
  number: string | undefined,
  product: string | undefined,
): "sent so" | "forms" | undefined {
  if (number === undefined || product === undefined) return undefined;
  const own = item.orders.flatMap(({ placed, products }) =>
    products.sent
      .filter(({ id, assetNumber }) => id === product && assetNumber === number)
      .map(({ purchase }) => purchase?.channelOrderId ?? placed?.channelOrderId),
  );
  const forms = shownForms(item.shown.products.get(`${number}/${product}`)?.body ?? {});
  const shown = forms.map((form) => form["channelOrderId"]);
  const isOwn = shown.every((id) => count(shown, id) <= count(own, id));
  return !isOwn ? undefined : new Set(shown).size === 1 ? "sent so" : "forms";
}

function count(list: readonly unknown[], item: unknown): number {
  return list.filter((one) => one === item).length;
}

function enterpriseRows(item: CustomerCase): Comparison[] {
  const wanted = item.crm !== null && item.crm.state !== "absent";
  const rows: Comparison[] = [];
  const notes = ["name, branch and address: no endpoint reads them back"];
  if (item.link === null) {
    if (wanted) {
      rows.push({
        level: "enterprise",
        verdict: "missing",
        inCrm: true,
        sent: false,
        shown: null,
        details: [whyNot(item.crm)],
      });
    }
    return rows;
  }
  const seen = item.shown.enterprises.get(item.link.enterpriseGlobalId);
  const base = {
    level: "enterprise" as const,
    inCrm: wanted,
    sent: true,
    at: item.link.at,
    seenAt: seen?.seenAt ?? item.read?.seenAt,
  };
  if (seen === undefined) {
    const looked = item.read?.complete === true;
    const details = looked ? ["E3 does not show the enterprise"] : [notRead(item)];
    const finding = looked ? ("not-shown" as const) : undefined;
    rows.push({
      ...base,
      verdict: looked ? "missing" : "not-observable",
      shown: looked ? false : null,
      details,
      finding,
    });
  } else if (!wanted) {
    rows.push({
      ...base,
      verdict: "extra",
      shown: true,
      details: ["the CRM no longer has the customer; its enterprise stays", ...notes],
    });
  } else {
    rows.push({ ...base, verdict: "matched", shown: true, details: [...waitNote(item.crm), ...notes] });
  }
  for (const [enterprise, other] of item.shown.enterprises) {
    if (enterprise === item.link.enterpriseGlobalId) continue;
    rows.push({
      level: "enterprise",
      verdict: "extra",
      inCrm: false,
      sent: false,
      shown: true,
      details: [`E3 shows ${enterprise} too, which is not linked to this customer`],
      seenAt: other.seenAt,
    });
  }
  return rows;
}

/** Accounts that our call deleted successfully and that M5 still shows. */
function deletedRows(item: CustomerCase): Comparison[] {
  return item.deleted.flatMap(({ staff, memberGlobalId, at }): Comparison[] => {
    const shown = item.shown.members.get(memberGlobalId);
    if (shown === undefined || shown.body["deleted"] === true || at >= shown.seenAt) return [];
    return [{ ...stillShown(shown, "as an account that can be used"), level: "staff", staff, memberGlobalId }];
  });
}
