import { html } from "hono/html";
import type { RecordFacts } from "../../report/explain.ts";
import { recordPath } from "../../report/page-links.ts";
import type { Html } from "../page.ts";
import { moment, shown } from "../shown.ts";
import { table, words } from "./table.ts";

/** How a record stands in a word, with the colour of it. */
export function stateWord(record: Pick<RecordFacts, "state" | "deferred" | "pending">): Html {
  if (record.state === "quarantined") return html`<span class="state bad">in quarantine</span>`;
  if (record.deferred !== null) return html`<span class="state wait">deferred</span>`;
  if (record.state === "absent") return html`<span class="state">gone from the CRM</span>`;
  if (record.pending) return html`<span class="state wait">waits for the next run</span>`;
  return html`<span class="state good">current</span>`;
}

/** Records with how they stand and why; `next` leads to those behind them. */
export function recordList(
  caption: string,
  { records, next }: { records: readonly RecordFacts[]; next?: string | undefined },
  when: { zone: string; now: string },
): Html {
  const rows = records.map((record) => [
    html`<a href="${recordPath(record.stream, record.key)}"
      >${shown(`${record.key.namespace}/${record.key.id}`, 200)}</a
    >`,
    stateWord(record),
    record.deferred === null ? "" : shown(record.deferred.reason),
    moment(record.changedAt, when),
  ]);
  const none = `No ${caption.toLowerCase()}.`;
  return html`${table(caption, words("Id", "State", "Why", "Changed"), rows, none)}
  ${next === undefined ? "" : html`<p><a href="${next}">More ${caption.toLowerCase()}</a></p>`}`;
}
