import type { ShownNumber, ToldRun } from "./crm-books.ts";
import { licencesOf } from "./lines.ts";
import { blank, opened, shownCells, type Stand } from "./stand.ts";
import type { Computed } from "./whole.ts";

/** A person of the CRM, and whether the platform shows them. */
export function staffItem(stand: Stand, { id, customer }: ToldRun["staff"][number]): Computed {
  return {
    ...blank(stand, customer),
    source: "hr",
    level: "staff",
    verdict: stand.look.members.has(id) ? "matched" : "missing",
    staff: `crm/${id}`,
    member_global_id: stand.look.members.get(id) ?? null,
    in_crm: true,
    sent: true,
    shown: stand.look.members.has(id),
    sent_at: stand.books.told.find(({ staff }) => staff.some((one) => one.id === id))?.at ?? null,
  };
}

/** Who has a number by the calls that the sandbox got: given until hands were at work, and not taken again. */
export function assignmentItems(stand: Stand): Computed[] {
  const { books, before, look, looks } = stand;
  const history = licencesOf(books.told.filter(({ at }) => at <= before.at));
  const given = Map.groupBy(history, (row) => String(row["asset_number"]));
  return [...given.values()].flatMap((rows) => {
    const one = rows.at(-1);
    if (one === undefined || one["event"] !== "granted") return [];
    const number = String(one["asset_number"]);
    const holder = (run: ToldRun) => run.shown.find((other) => other.number === number)?.holder ?? null;
    const isHeld = holder(look) === one["member_global_id"];
    const isLate = !isHeld && one.at > stand.transitFrom;
    const lost = ["nobody holds the asset number", ...(isLate ? ["sent so lately that it may be on its way"] : [])];
    const type = before.shown.find((other) => other.number === number)?.products[0]?.licenseType ?? null;
    return [
      {
        ...blank(stand, String(one["customer"]).slice("crm/".length)),
        source: "hr",
        level: "assignment",
        verdict: isHeld ? "matched" : isLate ? "in-transit" : "missing",
        crm_order: one["crm_order"] ?? null,
        license_type: type,
        asset_number: number,
        staff: one["staff"] ?? null,
        member_global_id: one["member_global_id"] ?? null,
        in_crm: true,
        sent: true,
        shown: isHeld,
        crm_seats: 1,
        sent_seats: 1,
        observed_seats: isHeld ? 1 : null,
        details: isHeld ? [] : lost,
        sent_at: one.at,
        ...opened(isHeld ? null : (looks.find((run) => holder(run) === null)?.at ?? null), stand),
      },
    ];
  });
}

/** What the platform shows since hands were at work, and nobody sent. */
export function strangerItems(stand: Stand): Computed[] {
  const { before, look, looks } = stand;
  return look.shown.flatMap((one) => {
    const stood = before.shown.find(({ number }) => number === one.number);
    const extra = { source: null, in_crm: false, sent: false, shown: true, asset_number: one.number };
    const blanks = { ...blank(stand, one.customer), ...extra, verdict: "extra" };
    const firstWith = (holds: (shown: ShownNumber) => boolean): string | null =>
      looks.find(({ shown }) => shown.some((other) => other.number === one.number && holds(other)))?.at ?? null;
    const held: Computed[] =
      one.holder === null || one.holder === stood?.holder
        ? []
        : [
            {
              ...blanks,
              level: "assignment",
              member_global_id: one.holder,
              observed_seats: 1,
              details: ["held by a member that crm-sync did not assign it to"],
              ...opened(
                firstWith(({ holder }) => holder === one.holder),
                stand,
              ),
            },
          ];
    const others = one.products.filter(({ crmProductId: id }) =>
      stood?.products.every((known) => known.crmProductId !== id),
    );
    return [
      ...held,
      ...others.map((product): Computed => ({
        ...blanks,
        level: "product",
        channel_order_id: product.channelOrderId,
        license_order_id: product.licenseOrderId,
        license_type: product.licenseType,
        item: product.crmProductId,
        product: String(product["productName"]),
        product_number: String(product["gmsPid"]),
        ...shownCells(product),
        details: ["the platform shows it, and it belongs to no order of this customer"],
        ...opened(
          firstWith(({ products }) => products.some(({ crmProductId: id }) => id === product.crmProductId)),
          stand,
        ),
      })),
    ];
  });
}
