import { html } from "hono/html";
import type { RecordFacts } from "../../report/explain.ts";
import { recordPath } from "../../report/page-links.ts";
import type { Html } from "../page.ts";
import { moment, shown } from "../shown.ts";

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
  if (records.length === 0) return html`<p class="soft">No ${caption.toLowerCase()}.</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
      <table>
        <caption>
          ${caption}
        </caption>
        <thead>
          <tr>
            <th scope="col">Id</th>
            <th scope="col">State</th>
            <th scope="col">Why</th>
            <th scope="col">Changed</th>
          </tr>
        </thead>
        <tbody>
          ${records.map(
            (record) =>
              html`<tr>
                <th scope="row">
                  <a href="${recordPath(record.stream, record.key)}"
                    >${shown(`${record.key.namespace}/${record.key.id}`, 200)}</a
                  >
                </th>
                <td>${stateWord(record)}</td>
                <td>${record.deferred === null ? "" : shown(record.deferred.reason)}</td>
                <td>${moment(record.changedAt, when)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${next === undefined ? "" : html`<p><a href="${next}">More ${caption.toLowerCase()}</a></p>`}`;
}
