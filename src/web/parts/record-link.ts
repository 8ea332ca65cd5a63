import { html } from "hono/html";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import { pagePath } from "../../report/page-links.ts";
import type { Html } from "../page.ts";
import { shown } from "../shown.ts";

const pages = { customers: pagePath.customer, orders: pagePath.order, staff: pagePath.person } as const;
const nouns = { customers: "customer", orders: "order", staff: "person" } as const;
/** Keys are cut here: longer ones are on the page of the record. */
const mostOfKey = 120;

/** A record by its id, as a link to its page. */
export function recordLink(stream: Stream, key: RecordKey): Html {
  return html`<a href="${pages[stream](key.namespace, key.id)}"
    >${nouns[stream]} ${shown(formatKey(key), mostOfKey)}</a
  >`;
}

/** Several of them, and how many more there are. */
export function recordLinks(records: readonly { stream: Stream; key: RecordKey }[], most = 3): Html {
  const rest = records.length - most;
  return html`${records
    .slice(0, most)
    .map(
      ({ stream, key }, index) => html`${index === 0 ? "" : ", "}${recordLink(stream, key)}`,
    )}${rest > 0 ? ` and ${rest} more` : ""}`;
}
