import type { ShownForm, ShownOrder } from "../ledger/state/observations.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { fillTemplate } from "../contract/template.ts";
import type { RecordKey } from "../crm/model.ts";

/** What is shown under the number of one amendment of an order. */
export interface ShownAmendment {
  n: number;
  channelOrderId: string;
  shown: ShownOrder;
}

/** Whose amendments are looked for. */
interface Amended {
  order: RecordKey;
  channelOrderId: string;
  /** Numbers that are other orders' own. */
  others: ReadonlySet<string>;
  /** All channel order numbers under which the enterprise shows anything. */
  numbers: readonly string[];
}

/** What is shown of an order beside its own number: under those of its amendments that are no other order's own. */
export async function shownAmendments(
  settings: Pick<AssumptionSettings, "amendmentOrderIdTemplate">,
  amended: Amended,
  shownUnder: (channelOrderId: string) => Promise<ShownOrder | undefined>,
): Promise<ShownAmendment[]> {
  const found: ShownAmendment[] = [];
  const amendmentOf = amendmentsOf(settings, amended);
  for (const channelOrderId of amended.numbers) {
    const n = amended.others.has(channelOrderId) ? undefined : amendmentOf(channelOrderId);
    const shown = n === undefined ? undefined : await shownUnder(channelOrderId);
    if (n !== undefined && shown !== undefined) found.push({ n, channelOrderId, shown });
  }
  return found.toSorted((one, other) => one.n - other.n);
}

/** Stands for the number of an amendment where its template is taken apart; no number of an order holds it. */
const anyNumber = "\u0000";

/** What the channel order numbers of all amendments of an order begin with (A16). */
export function beginningOf(
  { amendmentOrderIdTemplate }: Pick<AssumptionSettings, "amendmentOrderIdTemplate">,
  { order: { namespace, id }, channelOrderId: order }: Pick<Amended, "order" | "channelOrderId">,
): string {
  return fillTemplate(amendmentOrderIdTemplate, { order, id, namespace, n: anyNumber }).split(anyNumber)[0] ?? "";
}

/** Tells which amendment of an order has a channel order number (A16); undefined where none of it can have it. */
export function amendmentsOf(
  { amendmentOrderIdTemplate }: Pick<AssumptionSettings, "amendmentOrderIdTemplate">,
  { order: { namespace, id }, channelOrderId: order }: Pick<Amended, "order" | "channelOrderId">,
): (number: string) => number | undefined {
  const filled = (n: string): string => fillTemplate(amendmentOrderIdTemplate, { order, id, namespace, n });
  const [before = "", ...rest] = filled(anyNumber).split(anyNumber);
  const after = rest.at(-1) ?? "";
  return (number) => {
    if (!number.startsWith(before) || !number.endsWith(after)) return undefined;
    const n = /^[1-9]\d{0,14}/u.exec(number.slice(before.length))?.[0];
    return n !== undefined && filled(n) === number ? Number(n) : undefined;
  };
}

/** All that is shown of an order, whatever it was bought under. */
export function shownTogether(shown: readonly ShownOrder[]): ShownOrder {
  const products = new Map<string, readonly string[]>();
  const forms = new Map<string, readonly ShownForm[]>();
  for (const item of shown) {
    for (const [id, numbers] of item.products)
      products.set(id, [...new Set([...(products.get(id) ?? []), ...numbers])]);
    for (const [id, own] of item.forms) forms.set(id, [...(forms.get(id) ?? []), ...own]);
  }
  return { licenceOrders: new Map(shown.flatMap((item) => [...item.licenceOrders])), products, forms };
}
